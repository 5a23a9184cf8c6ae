#include "text/marked_bpe.h"

#include <utility>

#include "base/check.h"
#include "text/text_tokenizer_config.h"
#include "text/tokenizer_file.h"
#include "text/utf8.h"

namespace heed {
namespace {

bool has_inner_mark(std::string_view piece) {
  while (piece.starts_with(kSpaceMark)) piece.remove_prefix(kSpaceMark.size());
  return piece.find(kSpaceMark) != std::string_view::npos;
}

bool is_mark(std::string_view text, size_t at) {
  return text[at] == ' ' || text.substr(at).starts_with(kSpaceMark);
}

}  // namespace

MarkedBpeTokenizer::MarkedBpeTokenizer(MarkedBpeModel model)
    : model_(std::move(model)),
      added_(model_.added),
      merges_(model_.merges),
      byte_of_id_(model_.pieces.size(), -1) {
  for (int32_t id = 0; id < MarkedBpeTokenizer::size(); ++id) ids_.emplace(model_.pieces[id], id);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string piece = fmt::format("<0x{:02X}>", byte);
    const auto found = ids_.find(piece);
    if (found == ids_.end()) {
      fail(ErrorKind::kFormat,
           "{}: the vocabulary lacks the byte piece '{}', which \"byte_fallback\" requires", model_.path,
           piece);
    }
    id_of_byte_.push_back(found->second);
    byte_of_id_[found->second] = byte;
  }
  for (const BpeMerge& merge : model_.merges) {
    crosses_words_ |= has_inner_mark(model_.pieces[merge.joined]);
  }
}

void MarkedBpeTokenizer::save(const std::string& directory) const {
  write_file(directory + "/tokenizer.json", read_tokenizer_file(model_.path));
  const auto spelt = [&](int32_t id) { return id < 0 ? "" : model_.pieces[id]; };
  write_text_tokenizer_config(
      directory,
      {.tokenizer_class = kPlainTokenizerClass, .start = spelt(model_.start), .end = spelt(model_.end)});
}

std::optional<int32_t> MarkedBpeTokenizer::start_id() const {
  return model_.start < 0 ? std::nullopt : std::optional(model_.start);
}

std::optional<int32_t> MarkedBpeTokenizer::end_id() const {
  return model_.end < 0 ? std::nullopt : std::optional(model_.end);
}

std::string MarkedBpeTokenizer::bytes(int32_t id) const {
  require_id(id);
  if (const AddedToken* added = added_.find(id)) return added->special ? "" : added->content;
  const int byte = byte_of_id_[id];
  return byte >= 0 ? std::string(1, static_cast<char>(byte)) : marks_to_spaces(model_.pieces[id]);
}

std::string MarkedBpeTokenizer::piece(int32_t id) const {
  require_id(id);
  return model_.pieces[id];
}

std::vector<BpeSymbol> MarkedBpeTokenizer::symbols_of(std::string_view text, size_t begin, size_t end,
                                                      bool marked) const {
  std::vector<BpeSymbol> symbols;
  const auto add = [&](std::string_view character, size_t from, size_t to) {
    const auto found = ids_.find(character);
    if (found != ids_.end()) {
      symbols.push_back({found->second, from, to});
      return;
    }
    // The last byte piece of a character has its whole span.
    for (size_t n = 0; n < character.size(); ++n) {
      const bool last = n + 1 == character.size();
      symbols.push_back({id_of_byte_[static_cast<unsigned char>(character[n])], from, last ? to : from});
    }
  };
  if (marked) add(kSpaceMark, begin, begin);
  for (size_t at = begin; at < end;) {
    size_t next = at;
    next_code_point(text, next);
    add(text[at] == ' ' ? kSpaceMark : text.substr(at, next - at), at, next);
    at = next;
  }
  return symbols;
}

void MarkedBpeTokenizer::tokenize(std::string_view text, size_t begin, size_t end,
                                  std::vector<Token>& tokens) const {
  text = text.substr(0, end);
  bool marked =
      model_.mark == LeadingMark::kAlways || (model_.mark != LeadingMark::kNone && !is_mark(text, begin) &&
                                              (begin == 0 || model_.mark == LeadingMark::kUnlessThere));
  std::unordered_map<std::string_view, std::vector<BpeSymbol>> known;  // cache of repeated words
  const auto add = [&](const std::vector<BpeSymbol>& symbols, size_t offset) {
    for (const BpeSymbol& symbol : symbols)
      tokens.push_back({symbol.id, offset + symbol.begin, offset + symbol.end});
  };
  while (begin < end) {
    // Merges do not cross word boundaries, unless there is one that does.
    size_t behind = crosses_words_ ? end : begin;
    while (behind < end && is_mark(text, behind)) next_code_point(text, behind);
    while (behind < end && !is_mark(text, behind)) next_code_point(text, behind);
    const std::string_view word = text.substr(begin, behind - begin);
    const auto cut_word = [&] {
      std::vector<BpeSymbol> symbols = symbols_of(word, 0, word.size(), marked);
      merges_.apply(symbols);
      return symbols;
    };
    if (marked) {
      add(cut_word(), begin);
    } else {
      const auto [found, is_new] = known.try_emplace(word);
      if (is_new) found->second = cut_word();
      add(found->second, begin);
    }
    marked = false;
    begin = behind;
  }
}

}  // namespace heed
