"""heed.torch.MultiHeadAttention: PyTorch's own gradients, and several passes before their gradients."""

import copy
import pickle

import pytest

torch = pytest.importorskip("torch")

import heed
import heed.torch

B, T, D, H = 2, 5, 12, 3


def layer_of(**options):
    return heed.torch.MultiHeadAttention(D, H, **{"dropout": 0, "dtype": "float64", **options})


@pytest.fixture
def x():
    torch.manual_seed(1)
    return torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)


def reference(layer, x):
    """PyTorch's layer with the same parameters."""
    other = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    own = layer.state_dict()
    with torch.no_grad():
        other.in_proj_weight.copy_(torch.cat([own[f"{name}_proj.weight"] for name in "qkv"]))
        other.in_proj_bias.copy_(torch.cat([own[f"{name}_proj.bias"] for name in "qkv"]))
        other.out_proj.weight.copy_(own["out_proj.weight"])
        other.out_proj.bias.copy_(own["out_proj.bias"])
    return other, other(x, x, x)[0]


def test_agrees_with_the_layer_of_torch(x):
    layer = layer_of()
    other_x = x.detach().clone().requires_grad_()
    other, expected = reference(layer, other_x)
    output = layer(x, x, x).output
    torch.testing.assert_close(output, expected)
    upstream = torch.randn_like(output)
    output.backward(upstream)
    expected.backward(upstream)
    torch.testing.assert_close(x.grad, other_x.grad)
    torch.testing.assert_close(layer.get_parameter("v_proj.weight").grad, other.in_proj_weight.grad[2 * D :])
    torch.testing.assert_close(layer.get_parameter("out_proj.bias").grad, other.out_proj.bias.grad)


def test_gradients_stop_at_detached_inputs(x):
    """Which share the memory of what they come from."""
    layer, upstream = layer_of(), torch.randn_like(x)

    def gradient(key, value):
        x.grad = None
        (layer(x, key, value).output * upstream).sum().backward()
        return x.grad.clone()

    apart = x.detach().clone()
    torch.testing.assert_close(gradient(x.detach(), x.detach()), gradient(apart, apart))
    torch.testing.assert_close(gradient(x, x.detach()), gradient(x, apart))
    torch.testing.assert_close(gradient(x.view_as(x), x), gradient(x, x))
    assert not torch.allclose(gradient(x, x), gradient(apart, apart))


def test_finite_differences(x):
    """gradcheck computes the gradients of one pass many times, which is refused (test_what_is_refused)."""
    layer, step = layer_of(), 1e-6
    memory = torch.randn_like(x, requires_grad=True)
    upstream = torch.randn_like(x)

    def total(query, keys):
        return (layer(query, keys, keys, look_ahead=True).output * upstream).sum()

    total(x, memory).backward()
    for position in ((0, 0, 0), (1, 4, 11)):
        moved = torch.zeros_like(x)
        moved[position] = step
        with torch.no_grad():
            of_query = (total(x + moved, memory) - total(x - moved, memory)) / (2 * step)
            of_keys = (total(x, memory + moved) - total(x, memory - moved)) / (2 * step)
        torch.testing.assert_close(x.grad[position], of_query, rtol=1e-5, atol=1e-8)
        torch.testing.assert_close(memory.grad[position], of_keys, rtol=1e-5, atol=1e-8)


def test_weights_may_be_changed(x):
    """Without changing the gradients of the pass."""
    layer, upstream = layer_of(), torch.randn_like(x)

    def gradient(weights):
        x.grad = None
        output, shown = layer(x, x, x, weights=weights)
        if shown is not None:
            shown.zero_()
        output.backward(upstream)
        return x.grad.clone()

    torch.testing.assert_close(gradient(True), gradient(False))


def test_several_passes(x):
    """The gradients of two passes of one layer are those of each."""
    layer = layer_of()
    both = layer(x, x, x).output.square().sum() + layer(2 * x, x, x).output.square().sum()
    total = torch.autograd.grad(both, x)[0]
    first = torch.autograd.grad(layer(x, x, x).output.square().sum(), x)[0]
    second = torch.autograd.grad(layer(2 * x, x, x).output.square().sum(), x)[0]
    torch.testing.assert_close(total, first + second)


def test_learns(x):
    layer = layer_of()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = (layer(x, x, x).output - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]


def test_dropout_is_of_training_only(x):
    layer = layer_of(dropout=0.5)
    assert not torch.equal(layer(x, x, x).output, layer(x, x, x).output)
    layer.eval()
    assert torch.equal(layer(x, x, x).output, layer(x, x, x).output)


def test_parameters_are_copied_and_no_grad_is_obeyed(x):
    other = torch.nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    layer = heed.MultiHeadAttention(D, H, dtype="float64")
    layer.set_parameter("out_proj.weight", other.out_proj.weight)
    assert torch.equal(torch.from_dlpack(layer.parameter("out_proj.weight")), other.out_proj.weight)
    with torch.no_grad():
        output = layer(x, x, x).output
    assert torch.equal(torch.from_dlpack(output), torch.from_dlpack(layer(x.detach(), x.detach(), x.detach()).output))


def test_passes_without_gradients_take_one_layer(x, monkeypatch):
    made, usual = [], heed.MultiHeadAttention

    def counted(**options):
        made.append(options)
        return usual(**options)

    monkeypatch.setattr(heed.torch.attention, "MultiHeadAttention", counted)
    layer = layer_of()
    expected = layer(x, x, x).output
    layer.eval()
    with torch.no_grad():
        outputs = [layer(x, x, x).output for _ in range(5)]
    for each in outputs:
        torch.testing.assert_close(each, expected.detach())
        assert not each.requires_grad
    assert len(made) == 2  # the layer of training is still in its pass


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies(x, copied):
    """Also of a layer that has computed; a copy has parameters of its own."""
    layer = layer_of()
    expected = layer(x, x, x).output
    expected.sum().backward()
    other = copied(layer)
    torch.testing.assert_close(other(x, x, x).output, expected)
    with torch.no_grad():
        other.get_parameter("out_proj.bias").add_(1)
    torch.testing.assert_close(other(x, x, x).output, expected + 1)
    torch.testing.assert_close(layer(x, x, x).output, expected)
    both = copied(torch.nn.Sequential(torch.nn.Linear(3, D), layer))
    torch.testing.assert_close(both[1](x, x, x).output, expected)


def test_computes_in_the_type_of_its_parameters(x):
    layer = layer_of(dtype="float32")
    single = layer(x.float(), x.float(), x.float()).output
    assert single.dtype == torch.float32
    double = layer.double()(x, x, x).output
    assert double.dtype == torch.float64
    torch.testing.assert_close(double.float(), single)
    double.sum().backward()
    assert layer.get_parameter("q_proj.weight").grad.dtype == torch.float64
    assert torch.equal(layer.float()(x.float(), x.float(), x.float()).output, single)
    with pytest.raises(TypeError, match=r"parameters are of torch\.float16: call float\(\) or double\(\)"):
        layer.half()(x.half(), x.half(), x.half())


def test_gradients_of_gradients_are_refused(x):
    """Behind another layer, its own would be taken for all."""
    layer, before = layer_of(), torch.nn.Linear(D, D, dtype=torch.float64)

    def total():
        y = before(x)
        return layer(y, y, y).output.sum()

    (gradient,) = torch.autograd.grad(total(), x, create_graph=True)
    total().backward()
    torch.testing.assert_close(gradient, x.grad)
    with pytest.raises(RuntimeError, match="gradients of gradients are not computed"):
        gradient.pow(2).sum().backward()


def test_what_is_refused(x):
    layer = layer_of()
    with pytest.raises(TypeError, match=r"query requires gradients.* heed\.torch\.MultiHeadAttention"):
        heed.MultiHeadAttention(D, H, dtype="float64")(x, x, x)
    output = layer(x, x, x).output.sum()
    output.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="can be computed once"):
        output.backward()
