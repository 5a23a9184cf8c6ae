#include "text/tokenizer.h"

#include <filesystem>
#include <unordered_set>

#include "base/check.h"
#include "base/file.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_file.h"
#include "text/whitespace.h"

namespace heed {
namespace {

constexpr const char* kSourceModel = "source.spm";
constexpr const char* kTargetModel = "target.spm";
constexpr const char* kVocabulary = "vocab.json";
constexpr const char* kConfig = "tokenizer_config.json";

std::string path_of(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

/// ">>fr<<": the target language code at the beginning of the source, for multilingual models.
bool is_language_code(std::string_view piece) {
  return piece.starts_with(">>") && piece.ends_with("<<");
}

/// The leading language code, or empty.
std::string_view leading_code(std::string_view text) {
  if (!text.starts_with(">>")) return {};
  const size_t end = text.find("<<");
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 2);
}

}  // namespace

Tokenizer::Tokenizer(SentencePieceModel source, SentencePieceModel target, Vocabulary vocabulary,
                     std::string config)
    : source_(std::move(source)),
      target_(std::move(target)),
      vocabulary_(std::make_shared<const Vocabulary>(std::move(vocabulary))),
      config_(std::move(config)) {
  TokenizerConfig settings = read_tokenizer_config(config_, kConfig);
  source_language_ = std::move(settings.source_language);
  target_language_ = std::move(settings.target_language);
  true_case_capitals_ = settings.true_case_capitals;
}

Tokenizer Tokenizer::load(const std::string& directory) {
  const std::string config_path = path_of(directory, kConfig);
  const std::string config = is_present(config_path) ? read_tokenizer_file(config_path) : "{}";
  const TokenizerConfig settings = read_tokenizer_config(config, config_path);
  Vocabulary vocabulary = Vocabulary::load(path_of(directory, kVocabulary), settings.special);
  SentencePieceModel source = SentencePieceModel::load(path_of(directory, kSourceModel));
  std::string target_bytes = read_tokenizer_file(path_of(directory, kTargetModel));
  // Both files are often equal.
  SentencePieceModel target =
      target_bytes == source.bytes()
          ? source
          : SentencePieceModel::from_bytes(std::move(target_bytes), path_of(directory, kTargetModel));
  return Tokenizer(std::move(source), std::move(target), std::move(vocabulary), config);
}

void Tokenizer::save(const std::string& directory) const {
  write_file(path_of(directory, kSourceModel), source_.bytes());
  write_file(path_of(directory, kTargetModel), target_.bytes());
  write_file(path_of(directory, kVocabulary), vocabulary_->to_json());
  write_file(path_of(directory, kConfig), config_);
}

Tokenizer Tokenizer::train(const TokenizerTrainOptions& options, const NextLine& source,
                           const NextLine& target) {
  const auto train_one = [](const SentencePieceTrainOptions& settings, const NextLine& lines) {
    return SentencePieceModel::from_bytes(SentencePieceModel::train(settings, lines),
                                          "of the trained pieces");
  };
  const NextLine both = [&](std::string& line) { return source(line) || target(line); };
  const SentencePieceModel source_model = train_one(options.source, options.joint ? both : source);
  const SentencePieceModel target_model = options.joint ? source_model : train_one(options.target, target);

  const TokenizerConfig config{{}, options.source_language, options.target_language};
  std::vector<std::string> pieces{config.special.end, config.special.unknown};
  std::unordered_set<std::string> taken{config.special.end, config.special.unknown, config.special.pad};
  for (const SentencePieceModel* model : {&source_model, &target_model}) {
    for (int n = 0; n < model->size(); ++n) {
      if (!model->is_special(n) && taken.insert(model->piece(n)).second) pieces.push_back(model->piece(n));
    }
  }
  pieces.push_back(config.special.pad);
  Vocabulary vocabulary(std::move(pieces), config.special);
  std::string config_json = write_tokenizer_config(config, vocabulary, options.max_length);
  return Tokenizer(source_model, target_model, std::move(vocabulary), std::move(config_json));
}

int32_t Tokenizer::id_of_text(std::string_view piece) const {
  const int32_t id = vocabulary_->id(piece);
  return vocabulary_->is_special(id) || is_language_code(piece) ? unknown_id() : id;
}

std::string_view Tokenizer::after_code(std::string_view text) const {
  const std::string_view code = leading_code(text);
  return !code.empty() && vocabulary_->find(code) ? text.substr(code.size()) : text;
}

Encoding Tokenizer::encoding_of(std::string_view text, std::vector<Piece> pieces,
                                const EncodeOptions& options) const {
  Encoding encoding;
  const auto add = [&](int32_t id, std::string piece, size_t begin, size_t end) {
    encoding.ids.push_back(id);
    encoding.pieces.push_back(std::move(piece));
    encoding.spans.emplace_back(begin, end);
  };
  const std::string_view code = text.substr(0, text.size() - after_code(text).size());
  if (!code.empty()) add(vocabulary_->id(code), std::string(code), 0, code.size());
  for (Piece& piece : pieces) {
    const int32_t id = id_of_text(piece.text);
    add(id, std::move(piece.text), code.size() + piece.begin, code.size() + piece.end);
  }
  if (options.max_length > 0 && encoding.ids.size() >= options.max_length) {
    encoding.ids.resize(options.max_length - 1);
    encoding.pieces.resize(options.max_length - 1);
    encoding.spans.resize(options.max_length - 1);
  }
  add(end_id(), vocabulary_->piece(end_id()), text.size(), text.size());
  return encoding;
}

Encoding Tokenizer::encode(const SentencePieceModel& model, std::string_view text,
                           const EncodeOptions& options) const {
  return encoding_of(text, model.encode(after_code(text)), options);
}

std::vector<Encoding> Tokenizer::sample(const SentencePieceModel& model, std::string_view text,
                                        const SubwordSampling& sampling, Random& random) const {
  std::vector<Encoding> encodings;
  for (std::vector<Piece>& pieces : model.sample(after_code(text), sampling, random)) {
    encodings.push_back(encoding_of(text, std::move(pieces), {}));
  }
  return encodings;
}

Encoding Tokenizer::encode_source(std::string_view text, const EncodeOptions& options) const {
  return encode(source_, text, options);
}

Encoding Tokenizer::encode_target(std::string_view text, const EncodeOptions& options) const {
  return encode(target_, text, options);
}

std::vector<Encoding> Tokenizer::sample_source(std::string_view text, const SubwordSampling& sampling,
                                               Random& random) const {
  return sample(source_, text, sampling, random);
}

std::vector<Encoding> Tokenizer::sample_target(std::string_view text, const SubwordSampling& sampling,
                                               Random& random) const {
  return sample(target_, text, sampling, random);
}

std::string Tokenizer::decode(const SentencePieceModel& model, std::span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int32_t id : ids) {
    const std::string& piece = vocabulary_->piece(id);
    if (!vocabulary_->is_special(id)) pieces.push_back(piece);
  }
  // Unknown pieces, such as those of the other language, are decoded with their space marker.
  return std::string(strip(marks_to_spaces(model.decode(pieces))));
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  return decode(target_, ids);
}
std::string Tokenizer::decode_source(std::span<const int32_t> ids) const {
  return decode(source_, ids);
}

}  // namespace heed
