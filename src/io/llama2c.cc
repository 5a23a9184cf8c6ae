#include "io/llama2c.h"

#include <array>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/input_file.h"

namespace heed {
namespace {

constexpr uint64_t kHeaderBytes = 7 * sizeof(int32_t);
constexpr int64_t kMaxTokenBytes = 1 << 16;

/// Reads consecutive float32 tensors.
class Weights {
 public:
  explicit Weights(const InputFile& file) : file_(file) {}
  Tensor take(const Shape& shape) {
    Tensor tensor = Tensor::empty(shape);
    file_.read_at(at_, tensor.data<float>(), static_cast<size_t>(shape.size()) * sizeof(float));
    at_ += static_cast<uint64_t>(shape.size()) * sizeof(float);
    return tensor;
  }

 private:
  const InputFile& file_;
  uint64_t at_ = kHeaderBytes;
};

int64_t read_size(const InputFile& file, const char* name, int64_t value, int64_t most) {
  if (value < 1 || value > most) {
    fail(ErrorKind::kFormat, "'{}' is not a llama2.c model: its {} would be {}", file.path(), name, value);
  }
  return value;
}

Llama2cModel read_header(const InputFile& file) {
  std::array<int32_t, 7> header{};
  if (file.size() < kHeaderBytes) {
    fail(ErrorKind::kFormat, "'{}' is not a llama2.c model: it has {} bytes", file.path(), file.size());
  }
  file.read_at(0, header.data(), kHeaderBytes);
  Llama2cModel m;
  m.width = read_size(file, "width", header[0], 1 << 16);
  m.inner_width = read_size(file, "feed-forward width", header[1], 1 << 20);
  m.layers = read_size(file, "number of layers", header[2], 256);
  m.heads = read_size(file, "number of heads", header[3], 1024);
  m.key_value_heads = read_size(file, "number of key-value heads", header[4], 1024);
  // A negative vocabulary size means that input and output embeddings are not tied.
  m.tied_output = header[5] > 0;
  m.vocabulary = read_size(file, "vocabulary", std::abs(static_cast<int64_t>(header[5])), 1 << 26);
  m.positions = read_size(file, "number of positions", header[6], 1 << 20);
  if (m.width % (2 * m.heads) != 0 || m.heads % m.key_value_heads != 0) {
    fail(ErrorKind::kFormat,
         "'{}' is not a llama2.c model: width {}, {} heads and {} key-value heads are not divisible by one "
         "another",
         file.path(), m.width, m.heads, m.key_value_heads);
  }
  return m;
}

/// Number of weights that must follow the header.
uint64_t weights_in(const Llama2cModel& m) {
  const int64_t head_width = m.width / m.heads, shared = m.key_value_heads * head_width;
  const int64_t layer =
      2 * m.width + 2 * m.width * m.width + 2 * m.width * shared + 3 * m.width * m.inner_width;
  const int64_t once = m.vocabulary * m.width * (m.tied_output ? 1 : 2) + m.width + m.positions * head_width;
  return static_cast<uint64_t>(m.layers * layer + once);
}

/// Rows 2k and 2k + 1 of each head become rows k and d_k / 2 + k: (heads d_k, D).
Tensor halves_of_pairs(const Tensor& matrix, int64_t head_width) {
  Tensor moved = Tensor::empty(matrix.shape());
  const int64_t width = matrix.dim(1);
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    const int64_t head = row / head_width * head_width, feature = row % head_width;
    const int64_t to_row = head + feature / 2 + feature % 2 * (head_width / 2);
    std::memcpy(moved.data<float>() + to_row * width, matrix.data<float>() + row * width,
                static_cast<size_t>(width) * sizeof(float));
  }
  return moved;
}

}  // namespace

Llama2cModel read_llama2c(const std::string& path) {
  const InputFile file(path);
  Llama2cModel m = read_header(file);
  const uint64_t expected = kHeaderBytes + weights_in(m) * sizeof(float);
  if (file.size() != expected) {
    fail(ErrorKind::kFormat, "'{}' is not a llama2.c model: its header requires {} bytes, but it has {}",
         path, expected, file.size());
  }
  const int64_t head_width = m.width / m.heads, shared = m.key_value_heads * head_width;
  Weights weights(file);
  m.tensors.emplace_back("model.embed_tokens.weight", weights.take({m.vocabulary, m.width}));
  const auto each_layer = [&](const char* name, const Shape& shape, bool turned = false) {
    for (int64_t layer = 0; layer < m.layers; ++layer) {
      const Tensor tensor = weights.take(shape);
      m.tensors.emplace_back(fmt::format("model.layers.{}.{}.weight", layer, name),
                             turned ? halves_of_pairs(tensor, head_width) : tensor);
    }
  };
  each_layer("input_layernorm", {m.width});
  each_layer("self_attn.q_proj", {m.width, m.width}, true);
  each_layer("self_attn.k_proj", {shared, m.width}, true);
  each_layer("self_attn.v_proj", {shared, m.width});
  each_layer("self_attn.o_proj", {m.width, m.width});
  each_layer("post_attention_layernorm", {m.width});
  each_layer("mlp.gate_proj", {m.inner_width, m.width});
  each_layer("mlp.down_proj", {m.width, m.inner_width});
  each_layer("mlp.up_proj", {m.inner_width, m.width});
  m.tensors.emplace_back("model.norm.weight", weights.take({m.width}));
  weights.take({m.positions, head_width});  // rotary cosines and sines, which Heed computes itself
  if (!m.tied_output) m.tensors.emplace_back("lm_head.weight", weights.take({m.vocabulary, m.width}));
  for (const auto& [name, tensor] : m.tensors) {
    const float* values = tensor.data<float>();
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (!std::isfinite(values[i])) {
        fail(ErrorKind::kFormat, "'{}': tensor '{}' contains {} at index {}", path, name, values[i], i);
      }
    }
  }
  return m;
}

std::vector<Llama2cToken> read_llama2c_tokens(const std::string& path, int64_t count) {
  const InputFile file(path);
  const auto broken = [&] {
    fail(ErrorKind::kFormat, "'{}' is not a llama2.c tokenizer of {}", path, counted(count, "token"));
  };
  std::vector<Llama2cToken> tokens;
  uint64_t at = sizeof(int32_t);  // after the maximum token length
  while (at < file.size() && static_cast<int64_t>(tokens.size()) < count) {
    Llama2cToken token;
    int32_t length = 0;
    if (file.size() - at < sizeof token.score + sizeof length) broken();
    file.read_at(at, &token.score, sizeof token.score);
    file.read_at(at + sizeof token.score, &length, sizeof length);
    at += sizeof token.score + sizeof length;
    if (length < 1 || length > kMaxTokenBytes || file.size() - at < static_cast<uint64_t>(length)) broken();
    token.text.resize(static_cast<size_t>(length));
    file.read_at(at, token.text.data(), token.text.size());
    at += static_cast<uint64_t>(length);
    if (!std::isfinite(token.score)) broken();
    tokens.push_back(std::move(token));
  }
  if (at != file.size() || static_cast<int64_t>(tokens.size()) != count) broken();
  return tokens;
}

}  // namespace heed
