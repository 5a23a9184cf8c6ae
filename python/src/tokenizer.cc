#include "heed/tokenizer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "background.h"
#include "bindings.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

/// Of each byte of a valid UTF-8 text, and of its end, the number of characters that begin before it.
std::vector<size_t> characters_before(std::string_view text) {
  std::vector<size_t> counts{0};
  for (const char byte : text) {
    counts.push_back(counts.back() + ((static_cast<unsigned char>(byte) & 0xC0) != 0x80 ? 1 : 0));
  }
  return counts;
}

/// Tokens with offsets in characters, as indices of a Python str have it.
Tokens with_characters(Tokens tokens, const std::vector<std::string_view>& texts) {
  std::vector<std::vector<size_t>> before;
  for (const std::string_view text : texts) before.push_back(characters_before(text));
  size_t text = 0;  // special tokens are in the text before them
  for (size_t n = 0; n < tokens.offsets.size(); ++n) {
    if (tokens.texts[n] >= 0) text = static_cast<size_t>(tokens.texts[n]);
    auto& [begin, end] = tokens.offsets[n];
    begin = before[text][begin];
    end = before[text][end];
  }
  return tokens;
}

TextSide side_named(const std::string& name) {
  if (name == "source") return TextSide::kSource;
  if (name == "target") return TextSide::kTarget;
  throw Error(ErrorKind::kUsage, "unknown side '" + name + "': choose source or target");
}

/// Runs `work` on so many bytes without the GIL. Short work takes less time than to wake another thread for
/// it.
template <typename Work>
auto without_gil(size_t bytes, Work&& work) {
  constexpr size_t kShort = 4096;
  if (bytes > kShort) return in_background_get(work);
  const ShortWork here;
  return work();
}

TokenizeOptions options_of(const std::string& side, bool frame, bool special_tokens) {
  return {.side = side_named(side), .frame = frame, .special_tokens = special_tokens};
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
  nb::class_<Tokens>(m, "Tokens")
      .def_ro("ids", &Tokens::ids)
      .def_ro("pieces", &Tokens::pieces)
      .def_ro("offsets", &Tokens::offsets)
      .def_ro("texts", &Tokens::texts)
      .def_ro("types", &Tokens::types);
  nb::class_<SpecialTokens>(m, "SpecialTokens")
      .def_ro("end", &SpecialTokens::end)
      .def_ro("unknown", &SpecialTokens::unknown)
      .def_ro("padding", &SpecialTokens::padding)
      .def_ro("mask", &SpecialTokens::mask)
      .def_ro("before", &SpecialTokens::before)
      .def_ro("after", &SpecialTokens::after);
  nb::class_<Tokenizer>(m, "Tokenizer")
      .def(
          "__init__",
          [](Tokenizer* self, const Path& directory, const std::string& source, const std::string& target) {
            construct_in_background(self, [&] { return Tokenizer(directory.bytes, {source, target}); });
          },
          "directory"_a, "source_language"_a, "target_language"_a)
      .def(
          "encode",
          [](const Tokenizer& self, const std::string& text, const std::string& side, bool frame,
             bool special_tokens) {
            const TokenizeOptions options = options_of(side, frame, special_tokens);
            return without_gil(text.size(),
                               [&] { return with_characters(self.encode(text, options), {text}); });
          },
          "text"_a, "side"_a, "frame"_a, "special_tokens"_a)
      .def(
          "encode_pair",
          [](const Tokenizer& self, const std::string& first, const std::string& second, bool frame,
             bool special_tokens) {
            const TokenizeOptions options = options_of("source", frame, special_tokens);
            return without_gil(first.size() + second.size(), [&] {
              return with_characters(self.encode_pair(first, second, options), {first, second});
            });
          },
          "first"_a, "second"_a, "frame"_a, "special_tokens"_a)
      .def(
          "decode",
          [](const Tokenizer& self, const std::vector<int32_t>& ids, const std::string& side) {
            const TextSide decoded = side_named(side);
            return without_gil(ids.size(), [&] { return self.decode(ids, decoded); });
          },
          "ids"_a, "side"_a)
      .def(
          "piece",
          [](const Tokenizer& self, int32_t id, const std::string& side) {
            return self.piece(id, side_named(side));
          },
          "id"_a, "side"_a)
      .def(
          "find",
          [](const Tokenizer& self, const std::string& piece, const std::string& side) {
            return self.find(piece, side_named(side));
          },
          "piece"_a, "side"_a)
      .def(
          "vocabulary_size",
          [](const Tokenizer& self, const std::string& side) {
            return self.vocabulary_size(side_named(side));
          },
          "side"_a)
      .def(
          "special_tokens",
          [](const Tokenizer& self, const std::string& side) {
            return self.special_tokens(side_named(side));
          },
          "side"_a);
}

}  // namespace heed::python
