#include "text/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/check.h"
#include "base/file.h"
#include "base/nearest_word.h"
#include "base/printable.h"
#include "base/string_list.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_file.h"
#include "text/whitespace.h"

namespace heed {
namespace {

constexpr const char* kSourceModel = "source.spm";
constexpr const char* kTargetModel = "target.spm";
constexpr const char* kVocabulary = "vocab.json";
constexpr const char* kCtranslate2Model = "model.bin";
constexpr const char* kTargetVocabulary = "target_vocab.json";
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

Tokenizer::Tokenizer(Side source, Side target, std::string config)
    : source_(std::move(source)), target_(std::move(target)), config_(std::move(config)) {
  TokenizerConfig settings = read_tokenizer_config(config_, kConfig);
  source_language_ = std::move(settings.source_language);
  target_language_ = std::move(settings.target_language);
  true_case_capitals_ = settings.true_case_capitals;
  const Vocabulary& vocabulary = *source_.vocabulary;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(static_cast<int32_t>(id));
    if (is_language_code(piece)) language_codes_.push_back(piece);
  }
}

Tokenizer Tokenizer::load(const std::string& directory) {
  const std::string config_path = path_of(directory, kConfig);
  const std::string config = is_present(config_path) ? read_tokenizer_file(config_path) : "{}";
  const TokenizerConfig settings = read_tokenizer_config(config, config_path);
  const auto read_vocabulary = [&](const char* file) {
    return std::make_shared<const Vocabulary>(Vocabulary::load(path_of(directory, file), settings.special));
  };
  if (!is_present(path_of(directory, kVocabulary)) && is_present(path_of(directory, kCtranslate2Model))) {
    return load_ctranslate2(directory, settings.special, config);
  }
  Side source{SentencePieceModel::load(path_of(directory, kSourceModel)), read_vocabulary(kVocabulary)};
  std::string target_bytes = read_tokenizer_file(path_of(directory, kTargetModel));
  // Both files are often equal.
  Side target{target_bytes == source.model.bytes()
                  ? source.model
                  : SentencePieceModel::from_bytes(std::move(target_bytes), path_of(directory, kTargetModel)),
              settings.separate_vocabularies ? read_vocabulary(kTargetVocabulary) : source.vocabulary};
  return Tokenizer(std::move(source), std::move(target), config);
}

/// The vocabularies of CTranslate2 are lists, without the padding token, which is appended.
Tokenizer Tokenizer::load_ctranslate2(const std::string& directory, const SpecialPieces& special,
                                      const std::string& config) {
  if (!is_present(path_of(directory, kSourceModel))) {
    fail(ErrorKind::kNotFound,
         "'{}' has no tokenizer, which models of CTranslate2 do not contain: copy {} and {} of the original "
         "model "
         "into it",
         directory, kSourceModel, kTargetModel);
  }
  const auto read_list = [&](const char* side) {
    std::vector<std::string> pieces = read_string_list(path_of(directory, side));
    if (std::ranges::count(pieces, special.pad) == 0) pieces.push_back(special.pad);
    return std::make_shared<const Vocabulary>(std::move(pieces), special);
  };
  const bool joint = has_string_list(path_of(directory, "shared_vocabulary"));
  Side source{SentencePieceModel::load(path_of(directory, kSourceModel)),
              read_list(joint ? "shared_vocabulary" : "source_vocabulary")};
  Side target{SentencePieceModel::load(path_of(directory, kTargetModel)),
              joint ? source.vocabulary : read_list("target_vocabulary")};
  return Tokenizer(std::move(source), std::move(target),
                   joint ? config : with_separate_vocabularies(config, path_of(directory, kConfig)));
}

void Tokenizer::save(const std::string& directory) const {
  write_file(path_of(directory, kSourceModel), source_.model.bytes());
  write_file(path_of(directory, kTargetModel), target_.model.bytes());
  write_file(path_of(directory, kVocabulary), source_.vocabulary->to_json());
  if (has_two_vocabularies())
    write_file(path_of(directory, kTargetVocabulary), target_.vocabulary->to_json());
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
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(pieces), config.special);
  std::string config_json = write_tokenizer_config(config, *vocabulary, options.max_length);
  return Tokenizer({source_model, vocabulary}, {target_model, vocabulary}, std::move(config_json));
}

int32_t Tokenizer::Side::id_of_text(std::string_view piece) const {
  const int32_t id = vocabulary->id(piece);
  return vocabulary->is_special(id) || is_language_code(piece) ? vocabulary->unknown_id() : id;
}

std::string_view Tokenizer::code_of(std::string_view text) const {
  const std::string_view code = leading_code(text);
  // With several codes, any is one token: the model has learnt that languages stand there.
  const bool is_token = language_codes_.size() > 1 || source_.vocabulary->find(code).has_value();
  return is_token ? code : std::string_view{};
}

void Tokenizer::require_language_code(std::string_view text) const {
  const std::string_view code = leading_code(text);
  if (language_codes_.size() < 2 || strip(text).empty() || source_.vocabulary->find(code)) return;
  constexpr size_t kShown = 12;
  std::vector<std::string> codes = language_codes_;
  std::sort(codes.begin(), codes.end());
  const std::string nearest = did_you_mean(code, codes);
  std::string all =
      fmt::format("{}", fmt::join(codes.begin(), codes.begin() + std::min(codes.size(), kShown), " "));
  if (codes.size() > kShown) all += fmt::format(" and {} more", codes.size() - kShown);
  if (!code.empty()) {
    fail(ErrorKind::kUsage, "the model has no language '{}'{}; its codes are {}", shown(code, 40), nearest,
         all);
  }
  fail(ErrorKind::kUsage,
       "the model translates into several languages: begin each line with the code of one, without a space "
       "before "
       "it ({}); '{}' has none",
       all, shown(text, 40));
}

Encoding Tokenizer::encoding_of(const Side& side, std::string_view text, std::vector<Piece> pieces,
                                const EncodeOptions& options) const {
  Encoding encoding;
  const auto add = [&](int32_t id, std::string piece, size_t begin, size_t end) {
    encoding.ids.push_back(id);
    encoding.pieces.push_back(std::move(piece));
    encoding.spans.emplace_back(begin, end);
  };
  const std::string_view code = code_of(text);
  if (!code.empty()) add(side.vocabulary->id(code), std::string(code), 0, code.size());
  for (Piece& piece : pieces) {
    const int32_t id = side.id_of_text(piece.text);
    add(id, std::move(piece.text), code.size() + piece.begin, code.size() + piece.end);
  }
  if (options.max_length > 0 && encoding.ids.size() >= options.max_length) {
    encoding.ids.resize(options.max_length - 1);
    encoding.pieces.resize(options.max_length - 1);
    encoding.spans.resize(options.max_length - 1);
  }
  const int32_t end = side.vocabulary->end_id();
  add(end, side.vocabulary->piece(end), text.size(), text.size());
  return encoding;
}

Encoding Tokenizer::encode(const Side& side, std::string_view text, const EncodeOptions& options) const {
  return encoding_of(side, text, side.model.encode(after_code(text)), options);
}

std::vector<Encoding> Tokenizer::sample(const Side& side, std::string_view text,
                                        const SubwordSampling& sampling, Random& random) const {
  std::vector<Encoding> encodings;
  for (std::vector<Piece>& pieces : side.model.sample(after_code(text), sampling, random)) {
    encodings.push_back(encoding_of(side, text, std::move(pieces), {}));
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

std::string Tokenizer::decode(const Side& side, std::span<const int32_t> ids) {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int32_t id : ids) {
    const std::string& piece = side.vocabulary->piece(id);
    if (!side.vocabulary->is_special(id)) pieces.push_back(piece);
  }
  // Unknown pieces, such as those of the other language, are decoded with their space marker.
  return std::string(strip(marks_to_spaces(side.model.decode(pieces))));
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  return decode(target_, ids);
}
std::string Tokenizer::decode_source(std::span<const int32_t> ids) const {
  return decode(source_, ids);
}

}  // namespace heed
