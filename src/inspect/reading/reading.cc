#include "inspect/reading/reading.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "inspect/trace/text_tokens.h"
#include "models/embedding_indices.h"
#include "models/finite_output.h"
#include "search/rules/constraints.h"
#include "search/search.h"

namespace heed {
namespace {

int32_t likeliest(const Tensor& logits, int64_t row, int32_t count) {
  const float* first = logits.data<float>() + row * logits.dim(1);
  return static_cast<int32_t>(std::max_element(first, first + count) - first);
}

Tensor logits_at(const InspectedModel& model, const Reading& reading, const std::vector<int32_t>& rows) {
  nn::Context context = model.loaded.context();
  Tensor logits = prediction_logits(model.model(), context, reading.input(), rows).value();
  models::require_finite_output(logits);
  return logits;
}

/// The tokens that were added around a text. That a span is empty does not tell: so is that of a mark of a
/// space alone, and of all but one of the bytes of a character.
std::vector<bool> frame_of(const Encoding& encoding) {
  HEED_CHECK(encoding.sources.size() == encoding.size());
  std::vector<bool> frame;
  for (const int8_t source : encoding.sources) frame.push_back(source < 0);
  return frame;
}

std::vector<std::string> names_of(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  std::vector<std::string> names;
  for (const int32_t id : ids) names.push_back(vocabulary.piece(id));
  return names;
}

std::vector<int32_t> own_translation(const InspectedModel& model, const std::vector<int32_t>& source) {
  const search::ConstrainedSentence sentence(*model.translation, source, model.search, {});
  const search::Search search(model.loaded.seq2seq(), model.loaded.context(), sentence.options());
  return search.run({sentence.sentence()}).at(0).at(0).ids;
}

/// The source of a translation.
Reading read_source(const InspectedModel& model, const std::string& text) {
  const TranslationTokenizer& tokenizer = *model.translation;
  tokenizer.require_language_code(text);
  const Encoding source = tokenizer.encode_source(text);
  require_tokens("source", source.size(), model.loaded.seq2seq().max_length());
  Reading reading{.source = text, .source_ids = source.ids};
  reading.encoder_tokens = names_of(tokenizer.source_vocabulary(), source.ids);
  reading.source_special = frame_of(source);
  return reading;
}

Reading read_translation(const InspectedModel& model, const std::string& text, const std::string& target) {
  const models::Seq2Seq& seq2seq = model.loaded.seq2seq();
  const TranslationTokenizer& tokenizer = *model.translation;
  Reading reading = read_source(model, text);
  reading.target_ids =
      target.empty() ? own_translation(model, reading.source_ids) : tokenizer.encode_target(target).ids;
  require_tokens("target", reading.target_ids.size(), seq2seq.max_length());
  reading.target = target.empty() ? tokenizer.decode(reading.target_ids) : target;
  // At position t the decoder reads what position t - 1 produced; the first reads the start token.
  reading.decoder_ids = {seq2seq.start_id()};
  reading.decoder_ids.insert(reading.decoder_ids.end(), reading.target_ids.begin(),
                             reading.target_ids.end() - 1);
  reading.decoder_tokens = names_of(tokenizer.vocabulary(), reading.decoder_ids);
  reading.target_tokens = names_of(tokenizer.vocabulary(), reading.target_ids);
  for (const int32_t id : reading.decoder_ids) {
    reading.decoder_special.push_back(tokenizer.vocabulary().is_special(id) && id != tokenizer.unknown_id());
  }
  reading.decoder_special[0] = true;
  for (size_t n = 0; n < reading.target_ids.size(); ++n) reading.rows.push_back(static_cast<int32_t>(n));
  reading.first_target_row = 1;
  return reading;
}

/// The same target after another source.
Reading with_source(const Reading& reading, Reading source) {
  Reading another = reading;
  another.source = std::move(source.source);
  another.source_ids = std::move(source.source_ids);
  another.encoder_tokens = std::move(source.encoder_tokens);
  another.source_special = std::move(source.source_special);
  another.types = std::move(source.types);
  return another;
}

void add_decoder_tokens(const ModelTokenizer& tokenizer, Reading& reading) {
  for (const int32_t id : reading.decoder_ids) {
    reading.decoder_tokens.push_back(tokenizer.piece(id));
    reading.decoder_special.push_back(tokenizer.is_special(id));
  }
}

/// A prompt and what follows. The text is tokenized as a whole, unless a token spans the boundary, as the
/// last and the first of two lists of ids would.
std::vector<int32_t> ids_with_target(const ModelTokenizer& tokenizer, const std::vector<int32_t>& prompt,
                                     const std::string& text, const std::string& target) {
  if (!tokenizer.reads_ids()) {
    std::vector<int32_t> whole = tokenizer.prompt_ids(text + target);
    if (whole.size() > prompt.size() && std::equal(prompt.begin(), prompt.end(), whole.begin())) return whole;
  }
  std::vector<int32_t> ids = prompt;
  const std::vector<int32_t> rest = tokenizer.ids(target);
  ids.insert(ids.end(), rest.begin(), rest.end());
  return ids;
}

Reading read_language(const InspectedModel& model, const std::string& text, const std::string& target) {
  const models::LanguageModel& language_model = model.loaded.language_model();
  const ModelTokenizer& tokenizer = *model.tokenizer;
  const std::vector<int32_t> prompt = tokenizer.prompt_ids(text);
  const std::vector<int32_t> ids = target.empty() ? prompt : ids_with_target(tokenizer, prompt, text, target);
  require_tokens("text", ids.size(), language_model.max_length());
  Reading reading{.source = text, .target = target, .decoder_ids = ids};
  add_decoder_tokens(tokenizer, reading);
  reading.first_target_row = static_cast<int32_t>(prompt.size());
  reading.target_ids.assign(ids.begin() + reading.first_target_row, ids.end());
  if (reading.target_ids.empty()) {
    const Tensor logits = logits_at(model, reading, {reading.first_target_row - 1});
    reading.target_ids.push_back(likeliest(logits, 0, model.pieces()));
  }
  for (const int32_t id : reading.target_ids) {
    reading.rows.push_back(reading.first_target_row - 1 + static_cast<int32_t>(reading.rows.size()));
    reading.target_tokens.push_back(tokenizer.piece(id));
  }
  return reading;
}

/// Another prompt, and what follows the one of `reading`.
Reading with_prompt(const InspectedModel& model, const std::string& text, const Reading& reading) {
  const ModelTokenizer& tokenizer = *model.tokenizer;
  Reading another{.source = text, .target = reading.target, .decoder_ids = tokenizer.prompt_ids(text)};
  const auto prompt = static_cast<int32_t>(another.decoder_ids.size());
  another.first_target_row = prompt;
  another.decoder_ids.insert(another.decoder_ids.end(),
                             reading.decoder_ids.begin() + reading.first_target_row,
                             reading.decoder_ids.end());
  require_tokens("text", another.decoder_ids.size(), model.loaded.language_model().max_length());
  add_decoder_tokens(tokenizer, another);
  another.target_ids = reading.target_ids;
  another.target_tokens = reading.target_tokens;
  for (const int32_t row : reading.rows) another.rows.push_back(row - reading.first_target_row + prompt);
  return another;
}

void choose_label(const InspectedModel& model, const std::string& target, Reading& reading) {
  const std::vector<std::string>& labels = model.loaded.classifier().labels();
  const auto best = target.empty()
                        ? likeliest(logits_at(model, reading, {}), 0, static_cast<int32_t>(labels.size()))
                        : model.find_class(target);
  reading.target = labels[static_cast<size_t>(best)];
  reading.target_ids = {best};
  reading.target_tokens = {reading.target};
  reading.rows = {0};
}

/// The rows of mask tokens.
std::vector<int32_t> masks_in(const ModelTokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<int32_t> rows;
  for (size_t n = 0; n < ids.size(); ++n) {
    if (ids[n] == tokenizer.mask_id()) rows.push_back(static_cast<int32_t>(n));
  }
  return rows;
}

void fill_masks(const InspectedModel& model, const std::string& target, Reading& reading) {
  const ModelTokenizer& tokenizer = *model.tokenizer;
  reading.rows = masks_in(tokenizer, reading.source_ids);
  if (!target.empty()) {
    reading.target_ids = tokenizer.ids(target);
    if (reading.target_ids.size() != reading.rows.size()) {
      fail(ErrorKind::kUsage,
           "the target has {} tokens for {} mask tokens ({}) in the text: give one for each",
           reading.target_ids.size(), reading.rows.size(), tokenizer.mask_name());
    }
  } else if (!reading.rows.empty()) {
    const Tensor logits = logits_at(model, reading, reading.rows);  // (masks, V)
    for (int64_t n = 0; n < logits.dim(0); ++n) {
      reading.target_ids.push_back(likeliest(logits, n, model.pieces()));
    }
  }
  reading.target = target;
  for (const int32_t id : reading.target_ids) reading.target_tokens.push_back(model.piece(id));
}

/// What an encoder-only model reads.
Reading read_encoder_text(const InspectedModel& model, const std::string& text) {
  const auto [encoding, most] = encoder_tokens(model.loaded, *model.tokenizer, text);
  require_tokens("text", encoding.size(), most);
  Reading reading{.source = text, .source_ids = encoding.ids, .types = encoding.types};
  if (model.loaded.encoder().types() == 0) reading.types.clear();
  reading.encoder_tokens = token_names(*model.tokenizer, encoding);
  reading.source_special = frame_of(encoding);
  return reading;
}

Reading read_encoder(const InspectedModel& model, const std::string& text, const std::string& target) {
  Reading reading = read_encoder_text(model, text);
  if (model.task() == models::Task::kClassification) choose_label(model, target, reading);
  if (model.task() == models::Task::kMaskedLanguageModel) fill_masks(model, target, reading);
  if (model.task() == models::Task::kEmbedding && !target.empty()) {
    fail(ErrorKind::kUsage,
         "the model is an encoder without a head, which predicts nothing: leave out the target");
  }
  return reading;
}

}  // namespace

std::string InspectedModel::piece(int32_t id) const {
  if (translation != nullptr) return translation->vocabulary().piece(id);
  return tokenizer->piece(id);
}

int32_t InspectedModel::pieces() const {
  if (translation != nullptr) return static_cast<int32_t>(translation->size());
  return tokenizer->size();
}

std::optional<int32_t> InspectedModel::find(const std::string& token) const {
  if (translation != nullptr) {
    if (const auto id = translation->vocabulary().find(token)) return id;
    const std::vector<int32_t> ids = translation->target_phrase(token);
    return ids.size() == 1 ? std::optional(ids[0]) : std::nullopt;
  }
  if (const auto id = tokenizer->find(token)) return id;
  const std::vector<int32_t> ids = tokenizer->ids(token);
  return ids.size() == 1 ? std::optional(ids[0]) : std::nullopt;
}

int32_t InspectedModel::find_class(const std::string& label) const {
  const std::vector<std::string>& labels = loaded.classifier().labels();
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found == labels.end()) {
    fail(ErrorKind::kUsage, "the model has no class '{}': choose {}", label, fmt::join(labels, ", "));
  }
  return static_cast<int32_t>(found - labels.begin());
}

std::string InspectedModel::name() const {
  return std::filesystem::path(loaded.directory()).lexically_normal().filename().string();
}

std::vector<std::string> Reading::source_tokens() const {
  if (has_encoder()) return encoder_tokens;
  return {decoder_tokens.begin(), decoder_tokens.begin() + first_target_row};
}

ModelInput Reading::input() const {
  ModelInput input;
  if (has_encoder()) input.source.append(source_ids);
  if (has_decoder()) input.target.append(decoder_ids);
  input.types = types;
  return input;
}

Reading read_text(const InspectedModel& model, const std::string& text, const std::string& target) {
  switch (model.task()) {
    case models::Task::kTranslation:
      return read_translation(model, text, target);
    case models::Task::kLanguageModel:
      return read_language(model, text, target);
    case models::Task::kClassification:
    case models::Task::kMaskedLanguageModel:
    case models::Task::kEmbedding:
      return read_encoder(model, text, target);
  }
  HEED_CHECK(false);
}

Reading read_another(const InspectedModel& model, const std::string& text, const Reading& reading) {
  switch (model.task()) {
    case models::Task::kTranslation:
      return with_source(reading, read_source(model, text));
    case models::Task::kLanguageModel:
      return with_prompt(model, text, reading);
    case models::Task::kClassification:
    case models::Task::kEmbedding:
      return with_source(reading, read_encoder_text(model, text));
    case models::Task::kMaskedLanguageModel: {
      Reading another = with_source(reading, read_encoder_text(model, text));
      another.rows = masks_in(*model.tokenizer, another.source_ids);
      if (another.rows.size() == reading.rows.size()) return another;
      fail(ErrorKind::kUsage,
           "the texts have {} and {} mask tokens ({}), which are filled alike: give as many in both",
           reading.rows.size(), another.rows.size(), model.tokenizer->mask_name());
    }
  }
  HEED_CHECK(false);
}

}  // namespace heed
