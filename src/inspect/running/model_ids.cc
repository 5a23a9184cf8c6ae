#include "inspect/running/model_ids.h"

#include "base/check.h"
#include "models/encoder.h"
#include "models/language_model.h"
#include "models/seq2seq.h"
#include "models/source_vocabulary.h"

namespace heed {
namespace {

void require_ids(const char* reader, const std::vector<int32_t>& ids, int64_t count, int64_t most) {
  if (ids.empty()) fail(ErrorKind::kUsage, "there are no ids for the {}: give at least one", reader);
  if (most > 0 && static_cast<int64_t>(ids.size()) > most) {
    fail(ErrorKind::kUsage, "there are {} ids for the {}, but the model's maximum is {}: give fewer",
         ids.size(), reader, most);
  }
  for (size_t n = 0; n < ids.size(); ++n) require_id(ids[n], n, count);
}

}  // namespace

IdRanges id_ranges(const models::Model& model) {
  if (const auto* encoder = dynamic_cast<const models::Encoder*>(&model)) {
    return {.source = encoder->vocabulary_size()};
  }
  const auto& autoregressive = dynamic_cast<const models::AutoregressiveModel&>(model);
  IdRanges ranges{.decoder = autoregressive.vocabulary_size()};
  if (model.task() == models::Task::kTranslation) {
    ranges.source = models::source_vocabulary_size(autoregressive);
  }
  return ranges;
}

int64_t max_tokens(const models::Model& model) {
  if (const auto* encoder = dynamic_cast<const models::Encoder*>(&model)) return encoder->max_length();
  return dynamic_cast<const models::AutoregressiveModel&>(model).max_length();
}

int32_t start_id(const models::Model& model) {
  if (const auto* seq2seq = dynamic_cast<const models::Seq2Seq*>(&model)) return seq2seq->start_id();
  const auto* language_model = dynamic_cast<const models::LanguageModel*>(&model);
  return language_model != nullptr ? language_model->start_id() : -1;
}

void require_id(int32_t id, size_t index, int64_t count) {
  if (id >= 0 && id < count) return;
  fail(ErrorKind::kUsage, "the model has no id {} (number {} of those given): ids are 0 to {}", id, index + 1,
       count - 1);
}

ModelInput checked_input(const models::Model& model, const std::vector<int32_t>& ids,
                         const std::vector<int32_t>& decoder_ids) {
  const IdRanges ranges = id_ranges(model);
  const int64_t most = max_tokens(model);
  ModelInput input;
  if (ranges.source > 0 && ranges.decoder > 0) {
    require_ids("encoder", ids, ranges.source, most);
    input.source.append(ids);
    const std::vector<int32_t> read = decoder_ids.empty() ? std::vector{start_id(model)} : decoder_ids;
    require_ids("decoder", read, ranges.decoder, most);
    input.target.append(read);
    return input;
  }
  if (!decoder_ids.empty()) {
    fail(ErrorKind::kUsage,
         "decoder ids are for models with encoder and decoder: give all ids as the first list");
  }
  require_ids("model", ids, ranges.source + ranges.decoder, most);
  (ranges.source > 0 ? input.source : input.target).append(ids);
  return input;
}

}  // namespace heed
