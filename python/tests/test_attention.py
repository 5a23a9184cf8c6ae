"""heed.MultiHeadAttention against the formula in NumPy, gradients against differences, and memory that is shared."""

import threading

import numpy as np
import pytest

import heed

B, T, D, H = 2, 5, 12, 3


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reference(layer, x, visible=None):
    """The formula, with weights."""
    q, k, v = (
        (x @ layer.parameter(f"{n}_proj.weight").T + layer.parameter(f"{n}_proj.bias"))
        .reshape(*x.shape[:2], H, D // H)
        .transpose(0, 2, 1, 3)
        for n in "qkv"
    )
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D // H)
    weights = softmax(scores if visible is None else np.where(visible, scores, -np.inf))
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape)
    return mixed @ layer.parameter("out_proj.weight").T + layer.parameter("out_proj.bias"), weights


@pytest.fixture
def x():
    return np.random.default_rng(1).standard_normal((B, T, D)).astype(np.float32)


@pytest.fixture
def layer():
    return heed.MultiHeadAttention(D, H, dropout=0)


def test_formula(layer, x):
    result = layer(x, x, x, weights=True)
    output, weights = reference(layer, x)
    assert result.output.dtype == np.float32 and result.weights.shape == (B, H, T, T)
    assert np.allclose(result.output, output, atol=1e-5) and np.allclose(result.weights, weights, atol=1e-6)
    assert layer(x, x, x).weights is None


def test_masks(layer, x):
    causal = layer(x, x, x, look_ahead=True, weights=True)
    output, weights = reference(layer, x, np.tril(np.ones((T, T), bool)))
    assert np.allclose(causal.output, output, atol=1e-5) and np.allclose(causal.weights, weights, atol=1e-6)
    for mask in (heed.look_ahead_mask(T), heed.look_ahead_mask(T).astype(bool)):
        assert np.allclose(layer(x, x, x, mask=mask).output, output, atol=1e-5)
    padding = heed.padding_mask([T, 3], T)
    hidden = layer(x, x, x, padding=padding, weights=True)
    assert np.all(hidden.weights[1, :, :, 3:] == 0) and np.all(hidden.weights[0] > 0)
    bias = np.zeros((T, T), np.float32)
    bias[:, 0] = 50
    assert np.all(layer(x, x, x, bias=bias, weights=True).weights[..., 0] > 0.99)


def test_cross_attention_of_other_widths(x):
    layer = heed.MultiHeadAttention(D, H, key_width=7, value_width=4, dtype="float64")
    memory = np.random.default_rng(2).standard_normal((B, 9, 7))
    result = layer(x.astype(np.float64), memory, memory[..., :4], weights=True)
    assert result.output.dtype == np.float64 and result.weights.shape == (B, H, T, 9)


def test_packed_is_the_same(layer, x):
    lengths, offsets = [5, 3], [0, 5, 8]
    rows = np.concatenate([x[0], x[1, :3]])
    packed = layer.forward_packed(rows, rows, rows, offsets, offsets, weights=True)
    for b, length in enumerate(lengths):
        alone = layer(x[b : b + 1, :length], x[b : b + 1, :length], x[b : b + 1, :length], weights=True)
        assert np.array_equal(packed.output[offsets[b] : offsets[b + 1]], alone.output[0])
        assert packed.weights[b].shape == (H, length, length)


def test_gradients_are_those_of_differences(x):
    layer = heed.MultiHeadAttention(D, H, dropout=0, dtype="float64")
    x = x.astype(np.float64)
    upstream = np.random.default_rng(3).standard_normal(x.shape)
    layer.forward_training(x, x, x)
    gradients = layer.backward(upstream)
    assert gradients.key is None and gradients.value is None
    step = 1e-6
    for place in ((0, 0, 0), (1, 4, 11)):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[place] += sign * step
            ends.append((layer(moved, moved, moved).output * upstream).sum())
        assert gradients.query[place] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)
    name = "k_proj.weight"
    weight, ends = layer.parameter(name), []
    for sign in (1, -1):
        moved = weight.copy()
        moved[2, 3] += sign * step
        layer.set_parameter(name, moved)
        ends.append((layer(x, x, x).output * upstream).sum())
    assert gradients.parameters[name][2, 3] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)


def test_packed_training(layer, x):
    rows = x.reshape(-1, D)
    offsets = [0, T, 2 * T]
    layer.forward_packed_training(rows, rows, rows, offsets, offsets)
    packed = layer.backward(np.ones_like(rows))
    layer.forward_training(x, x, x)
    padded = layer.backward(np.ones_like(x))
    assert np.allclose(packed.query, padded.query.reshape(-1, D), atol=1e-5)


def test_upstream_has_the_shape_of_the_output(layer, x):
    layer.forward_training(x, x, x)
    for other in (x.transpose(1, 0, 2), x.reshape(-1, D), x[:1]):
        with pytest.raises(heed.Error, match=rf"must be as the output: \({B}, {T}, {D}\) of float32") as raised:
            layer.backward(np.ones_like(other))
        assert raised.value.kind == "shape"
    assert layer.backward(np.ones_like(x)).query.shape == x.shape


def test_inputs_are_not_copied(layer, x):
    """What backward() multiplies with is the memory of the caller."""
    upstream = np.ones_like(x)
    layer.forward_training(x, x, x)
    expected = layer.backward(upstream).parameters["q_proj.weight"]
    layer.forward_training(x, x, x)
    x *= 2
    assert np.allclose(layer.backward(upstream).parameters["q_proj.weight"], 2 * expected, atol=1e-4)
    assert not np.allclose(expected, 0)


def test_inputs_live_as_long_as_they_are_needed(layer, x):
    upstream = np.ones_like(x)
    layer.forward_training(x, x, x)
    expected = layer.backward(upstream).query
    layer.forward_training(*[x.copy()] * 3)  # nobody else holds this array
    np.ones(x.shape, np.float32)
    assert np.array_equal(layer.backward(upstream).query, expected)


def test_outputs_outlive_the_layer(x):
    output = heed.MultiHeadAttention(D, H)(x, x, x).output
    kept = output.copy()
    [np.ones(output.shape, np.float32) for _ in range(50)]
    assert np.array_equal(output, kept)
    output[0, 0, 0] = 1  # it is writable
    assert output[0, 0, 0] == 1


def test_other_kinds_of_arrays(layer, x):
    expected = layer(x, x, x).output
    view = np.concatenate([x, x], axis=2)[..., ::2]  # not contiguous
    assert np.array_equal(layer(view, view, view).output, layer(*[view.copy()] * 3).output)
    backwards = x[:, ::-1]
    assert np.array_equal(layer(backwards, backwards, backwards).output, layer(*[backwards.copy()] * 3).output)
    buffer = memoryview(x)
    assert np.array_equal(layer(buffer, buffer, buffer).output, expected)
    frozen = x.copy()
    frozen.flags.writeable = False
    assert np.array_equal(layer(frozen, frozen, frozen).output, expected)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda a, x: a(x[..., :8], x, x), "shape", r"query \(B, Tq, 12\)"),
        (lambda a, x: a(x.astype(np.float64), x, x), "shape", "float64"),
        (lambda a, x: a(x, x, x, padding=np.ones((B, T + 1), np.uint8)), "shape", "padding"),
        (lambda a, x: a(x, x, x, mask=np.ones((T, T), np.int64)), "shape", "the mask is of int64; give one of uint8 or bool"),
        (lambda a, x: a(x, x, x, padding=np.ones((B, T))), "shape", "the padding mask is of float64"),
        (lambda a, x: a.backward(x), "usage", "forward_training"),
        (lambda a, x: a.set_parameter("q_proj.weight", x), "shape", "q_proj.weight"),
        (lambda a, x: a.parameter("w"), "usage", "no parameter 'w'"),
        (lambda a, x: heed.MultiHeadAttention(10, 3), "shape|usage", "cannot be divided"),
        (lambda a, x: heed.MultiHeadAttention(12, 3, positions="far"), "usage", "positions must be"),
        (lambda a, x: heed.MultiHeadAttention(12, 3, dtype="float16"), "usage", "dtype must be"),
    ],
)
def test_bad_input(layer, x, call, kind, words):
    with pytest.raises(heed.Error, match=words) as raised:
        call(layer, x)
    assert raised.value.kind in kind.split("|")


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda a, x: a([1, 2], x, x), "query must be an array"),
        (lambda a, x: a(x, x, x, mask=[1]), "mask must be an array"),
        (lambda a, x: a.set_parameter("q_proj.bias", 3), "value must be an array"),
        (lambda a, x: a(x.astype(complex), x, x), r"query has elements of dtype\('complex128'\): .* float32"),
        (lambda a, x: a(x, x.astype(">f4"), x), r"key has elements of dtype\('>f4'\): .* the byte order of this machine"),
        (lambda a, x: a(x, x, x, mask=np.ones((3, 3), object)), "mask has elements of dtype"),
        (lambda a, x: a.set_parameter("q_proj.bias", np.zeros(D, "i2")), r"value has elements of dtype\('int16'\)"),
        (lambda a, x: a.forward_packed(x[0], x[0], x[0], [0, 3.5], [0, 3]), "query_offsets must be a list of int"),
        (lambda a, x: a.forward_packed_training(x[0], x[0], x[0], [0, 3], None), "key_offsets must be a list of int"),
        (lambda a, x: heed.padding_mask([1.5], 3), "lengths must be a list of int"),
        (lambda a, x: heed.MultiHeadAttention(D, H, dtype=np.float64), "dtype must be a str"),
        (lambda a, x: heed.MultiHeadAttention(D, H, positions=None), "positions must be a str"),
        (lambda a, x: heed.MultiHeadAttention("12", 3), "d_model cannot be '12'"),
    ],
)
def test_wrong_types(layer, x, call, words):
    with pytest.raises(TypeError, match=words):
        call(layer, x)


def test_relative_positions(x):
    for positions in ("rotary", "rotary_interleaved", "relative", "buckets"):
        layer = heed.MultiHeadAttention(D, H, positions=positions)
        assert layer(x, x, x).output.shape == x.shape
    assert "relative_keys" in heed.MultiHeadAttention(D, H, positions="relative").parameter_names


def test_functions(x):
    result = heed.scaled_dot_product_attention(x, x, x, weights=True)
    weights = softmax(x @ x.transpose(0, 2, 1) / np.sqrt(D))
    assert np.allclose(result.weights, weights, atol=1e-6) and np.allclose(result.output, weights @ x, atol=1e-5)
    encodings = heed.sinusoidal_positions(4, 6)
    assert encodings.dtype == np.float32 and encodings[2, 1] == pytest.approx(np.cos(2))
    assert heed.sinusoidal_positions(4, 6, interleaved=False)[2, 3] == pytest.approx(np.cos(2))


def test_several_threads(layer, x):
    expected, same = layer(x, x, x).output, []

    def work():
        same.extend(np.array_equal(layer(x, x, x).output, expected) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 80


class NeedsGradients(np.ndarray):
    """As a tensor of PyTorch with requires_grad."""

    requires_grad = True


def test_gradients_are_not_lost_in_silence(layer, x):
    tensor = x.view(NeedsGradients)
    with pytest.raises(TypeError, match=r"key requires gradients.* key\.detach\(\).* heed\.torch\.MultiHeadAttention"):
        layer(x, tensor, x)
    with pytest.raises(TypeError, match="query requires gradients"):
        heed.scaled_dot_product_attention(tensor, x, x)


@pytest.mark.parametrize("packed", [False, True])
def test_weights_of_a_training_pass_may_be_changed(layer, x, packed):
    """Without changing its gradients."""

    def gradient(weights):
        if packed:
            offsets = [0, T, 2 * T]
            rows = x.reshape(-1, D)
            shown = layer.forward_packed_training(rows, rows, rows, offsets, offsets, weights=weights).weights
        else:
            shown = layer.forward_training(x, x, x, weights=weights).weights
        for each in shown if shown is not None else []:
            each[:] = 0
        return layer.backward(np.ones_like(rows if packed else x)).parameters["q_proj.weight"]

    expected = gradient(False)  # the passes sum in different orders
    assert np.allclose(gradient(True), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_repr(layer):
    assert repr(layer) == "heed.MultiHeadAttention(12, 3, dropout=0)"
    assert repr(heed.MultiHeadAttention(12, 3, dtype="float64")) == "heed.MultiHeadAttention(12, 3, dtype='float64')"
    relative = heed.MultiHeadAttention(12, 3, positions="relative", max_relative_distance=4)
    assert repr(relative) == "heed.MultiHeadAttention(12, 3, positions='relative', max_relative_distance=4)"


def test_a_derived_class_has_arguments_of_its_own():
    class Small(heed.MultiHeadAttention):
        def __init__(self, heads=3):
            super().__init__(12, heads, dropout=0)

    assert repr(Small()) == "Small(12, 3, dropout=0)"
