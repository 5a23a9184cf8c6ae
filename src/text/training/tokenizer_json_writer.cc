#include "text/training/tokenizer_json_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "text/pipeline/segmentation/space_mark.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson sequence(const char* list, std::initializer_list<OrderedJson> steps) {
  return {{"type", "Sequence"}, {list, OrderedJson(OrderedJson::array_t(steps))}};
}

OrderedJson replace(std::string_view text, std::string_view with) {
  return {{"type", "Replace"}, {"pattern", {{"String", text}}}, {"content", with}};
}

/// Matched before normalization, as Heed does: the normalizers would put a mark of a space before it.
OrderedJson added_token(const AddedToken& token) {
  return {{"id", token.id},
          {"content", token.content},
          {"single_word", token.single_word},
          {"lstrip", token.strip_left},
          {"rstrip", token.strip_right},
          {"normalized", false},
          {"special", token.special}};
}

/// A BPE model without merges, so that each symbol is a token.
OrderedJson plain_model(OrderedJson vocabulary) {
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", std::move(vocabulary)},
          {"merges", OrderedJson::array()}};
}

/// The whole file, with its parts in pipeline order.
struct FileParts {
  OrderedJson added_tokens = OrderedJson::array();
  OrderedJson normalizer = {}, pre_tokenizer = {}, post_processor = {};
  OrderedJson decoder, model;
};

std::string file_of(FileParts parts) {
  const OrderedJson file{{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", std::move(parts.added_tokens)},
                         {"normalizer", std::move(parts.normalizer)},
                         {"pre_tokenizer", std::move(parts.pre_tokenizer)},
                         {"post_processor", std::move(parts.post_processor)},
                         {"decoder", std::move(parts.decoder)},
                         {"model", std::move(parts.model)}};
  return file.dump(1) + "\n";
}

/// An object of pieces and ids in order, built without key lookups, which would take quadratic time.
template <typename Pieces, typename Spell>
OrderedJson vocabulary_of(const Pieces& pieces, const Spell& spell) {
  OrderedJson vocabulary = OrderedJson::object();
  int32_t id = 0;
  for (const auto& piece : pieces)
    vocabulary.get_ref<OrderedJson::object_t&>().emplace_back(spell(piece), id++);
  return vocabulary;
}

bool is_ordinary(const SentencePieceFile& model, int number) {
  return !model.is_special(number) && model.byte_of(number) < 0;
}

/// By id.
OrderedJson added_tokens_of(std::vector<AddedToken> tokens) {
  std::ranges::sort(tokens, {}, &AddedToken::id);
  OrderedJson added = OrderedJson::array();
  for (const AddedToken& token : tokens) added.push_back(added_token(token));
  return added;
}

/// A post-processor that adds the start token before each text.
OrderedJson frame_of(const std::vector<AddedToken>& added, std::optional<int32_t> start_id) {
  if (!start_id) return nullptr;
  const std::string& start = std::ranges::find(added, *start_id, &AddedToken::id)->content;
  const auto text = [](const char* name, int type) {
    return OrderedJson{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  const auto token = [&](int type) {
    return OrderedJson{{"SpecialToken", {{"id", start}, {"type_id", type}}}};
  };
  OrderedJson ids = OrderedJson::object();
  ids[start] = {
      {"id", start}, {"ids", OrderedJson::array({*start_id})}, {"tokens", OrderedJson::array({start})}};
  return {{"type", "TemplateProcessing"},
          {"single", OrderedJson::array({token(0), text("A", 0)})},
          {"pair", OrderedJson::array({token(0), text("A", 0), token(1), text("B", 1)})},
          {"special_tokens", std::move(ids)}};
}

/// How the spaces of a text are marked.
struct SpaceMarks {
  OrderedJson normalizer = nullptr, pre_tokenizer = nullptr;
};

SpaceMarks space_marks(const SentencePieceNormalizerOptions& options) {
  const std::string mark(kSpaceMark);
  if (!options.adds_space_first) {
    const OrderedJson prepend{{"type", "Prepend"}, {"prepend", mark}};
    return {.normalizer = sequence("normalizers", {prepend, replace(" ", mark)})};
  }
  return {.pre_tokenizer = {
              {"type", "Metaspace"}, {"replacement", mark}, {"prepend_scheme", "first"}, {"split", false}}};
}

/// The whole file, given the model.
std::string file_of(const std::vector<AddedToken>& added, std::optional<int32_t> start, SpaceMarks marks,
                    OrderedJson json_model) {
  const std::string mark(kSpaceMark);
  const OrderedJson fallback{{"type", "ByteFallback"}}, fuse{{"type", "Fuse"}};
  const OrderedJson strip{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  return file_of({.added_tokens = added_tokens_of(added),
                  .normalizer = std::move(marks.normalizer),
                  .pre_tokenizer = std::move(marks.pre_tokenizer),
                  .post_processor = frame_of(added, start),
                  .decoder = sequence("decoders", {replace(mark, " "), fallback, fuse, strip}),
                  .model = std::move(json_model)});
}

/// Derives the merges from the pieces: every two pieces whose concatenation is a piece. Merges into pieces
/// with higher scores come first; the order for the same piece only matters if they overlap in a text.
OrderedJson merges_of(const SentencePieceFile& model) {
  std::unordered_map<std::string_view, int> numbers;
  for (int n = 0; n < model.size(); ++n) {
    if (is_ordinary(model, n)) numbers.emplace(model[n].text, n);
  }
  struct Merge {
    float score;
    int joined, left, right;
  };
  std::vector<Merge> merges;
  for (const auto& [piece, number] : numbers) {
    size_t at = 0;
    for (next_code_point(piece, at); at < piece.size(); next_code_point(piece, at)) {
      const auto left = numbers.find(piece.substr(0, at)), right = numbers.find(piece.substr(at));
      if (left == numbers.end() || right == numbers.end()) continue;
      merges.push_back({model[number].score, number, left->second, right->second});
    }
  }
  std::sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.joined, a.left, a.right) < std::tuple(-b.score, b.joined, b.left, b.right);
  });
  OrderedJson list = OrderedJson::array();
  for (const Merge& merge : merges)
    list.push_back(OrderedJson::array({model[merge.left].text, model[merge.right].text}));
  return list;
}

OrderedJson bpe_model(const SentencePieceFile& model) {
  std::vector<std::string> pieces;
  for (int n = 0; n < model.size(); ++n) pieces.push_back(model[n].text);
  OrderedJson json = plain_model(vocabulary_of(pieces, [](const std::string& piece) { return piece; }));
  json["unk_token"] = model[model.unknown_id()].text;
  json["fuse_unk"] = true;
  json["byte_fallback"] = true;
  json["merges"] = merges_of(model);
  return json;
}

OrderedJson unigram_model(const SentencePieceFile& model) {
  float lowest = 0;
  for (int n = 0; n < model.size(); ++n) {
    if (is_ordinary(model, n)) lowest = std::min(lowest, model[n].score);
  }
  OrderedJson vocabulary = OrderedJson::array();
  for (int n = 0; n < model.size(); ++n) {
    // Special pieces never match text in Heed; tokenizer.json has no piece types (see kNeverMatched). A score
    // below all others would change that of unknown characters, which is the lowest score minus 10.
    vocabulary.push_back(
        OrderedJson::array({model[n].text, is_ordinary(model, n) ? model[n].score : lowest}));
  }
  return {{"type", "Unigram"},
          {"unk_id", model.unknown_id()},
          {"vocab", std::move(vocabulary)},
          {"byte_fallback", true}};
}

/// Splits the spellings of byte and control pieces after their first character, so that they never match
/// text.
constexpr const char* kNeverMatched = "<(?=0x[0-9A-F]{2}>|s>|/s>|unk>)";

}  // namespace

std::string byte_tokenizer_json() {
  const OrderedJson level{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const auto spell = [](const std::string& piece) { return piece; };
  return file_of({.pre_tokenizer = level,
                  .decoder = level,
                  .model = plain_model(vocabulary_of(characters_of_bytes(), spell))});
}

std::string character_tokenizer_json(const std::u32string& characters) {
  const auto spell = [](char32_t c) {
    std::string text;
    append_utf8(text, c);
    return text;
  };
  return file_of({.decoder = {{"type", "Fuse"}}, .model = plain_model(vocabulary_of(characters, spell))});
}

std::string sentencepiece_tokenizer_json(const SentencePieceFile& model, const std::vector<AddedToken>& added,
                                         std::optional<int32_t> start) {
  HEED_CHECK(model.keeps_text() && model.unknown_id() >= 0);
  SpaceMarks marks = space_marks(model.normalizer);
  if (model.type != SentencePieceModelType::kUnigram) {
    return file_of(added, start, std::move(marks), bpe_model(model));
  }
  const OrderedJson apart{{"type", "Split"},
                          {"pattern", {{"Regex", kNeverMatched}}},
                          {"behavior", "MergedWithPrevious"},
                          {"invert", false}};
  marks.pre_tokenizer =
      marks.pre_tokenizer.is_null() ? apart : sequence("pretokenizers", {marks.pre_tokenizer, apart});
  return file_of(added, start, std::move(marks), unigram_model(model));
}

}  // namespace heed
