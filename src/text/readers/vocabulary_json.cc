#include "text/readers/vocabulary_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"

namespace heed {

void not_a_vocabulary(const std::string& name, std::string_view what) {
  fail(ErrorKind::kFormat, "{} is not a valid vocabulary (an object of pieces and ids): {}", name, what);
}

namespace {

/// SAX reader of a flat object of pieces and ids, which builds nothing else and detects duplicate pieces.
class VocabularyReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit VocabularyReader(std::string name) : name_(std::move(name)) {}

  std::vector<std::pair<std::string, uint64_t>>& entries() { return entries_; }

  bool start_object(size_t) override {
    if (open_) broken(fmt::format("the id of \"{}\" is an object", piece_));
    return open_ = true;
  }
  bool key(std::string& piece) override {
    piece_ = std::move(piece);
    return true;
  }
  bool number_unsigned(uint64_t id) override {
    if (!open_) return not_an_id();
    entries_.emplace_back(std::move(piece_), id);
    return true;
  }
  bool end_object() override { return true; }

  bool null() override { return not_an_id(); }
  bool boolean(bool) override { return not_an_id(); }
  bool number_integer(int64_t) override { return not_an_id(); }
  bool number_float(double, const std::string&) override { return not_an_id(); }
  bool string(std::string&) override { return not_an_id(); }
  bool binary(nlohmann::json::binary_t&) override { return not_an_id(); }
  bool start_array(size_t) override { return not_an_id(); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    broken(fmt::format("it is not valid JSON at byte {}; if it broke off there, download or copy it again",
                       position));
  }

  [[noreturn]] void broken(std::string_view what) const { not_a_vocabulary(name_, what); }

 private:
  bool not_an_id() const {
    if (!open_) broken("it does not begin with {");
    broken(fmt::format("the id of \"{}\" is not a non-negative integer", piece_));
  }

  std::string name_, piece_;
  bool open_ = false;
  std::vector<std::pair<std::string, uint64_t>> entries_;
};

}  // namespace

std::vector<std::string> read_vocabulary(std::string_view json, const std::string& name) {
  VocabularyReader reader(name);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  std::vector<std::string> pieces(reader.entries().size());
  std::vector<bool> taken(pieces.size());
  for (auto& [piece, id] : reader.entries()) {
    if (id >= pieces.size()) {
      not_a_vocabulary(name,
                       fmt::format("with {} pieces, \"{}\" cannot have the id {}", pieces.size(), piece, id));
    }
    if (taken[id]) {
      not_a_vocabulary(name, fmt::format("\"{}\" and \"{}\" have the same id {}", pieces[id], piece, id));
    }
    taken[id] = true;
    pieces[id] = std::move(piece);
  }
  return pieces;
}

std::string vocabulary_json(const std::vector<std::string>& pieces) {
  std::string text = "{\n";
  for (size_t id = 0; id < pieces.size(); ++id) {
    constexpr bool kAscii = true;
    const std::string quoted = nlohmann::json(pieces[id]).dump(-1, ' ', kAscii);
    text += fmt::format("  {}: {}{}\n", quoted, id, id + 1 < pieces.size() ? "," : "");
  }
  return text + "}\n";
}

}  // namespace heed
