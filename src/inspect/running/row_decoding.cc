#include "inspect/running/row_decoding.h"

#include "base/check.h"
#include "inspect/running/model_ids.h"
#include "models/finite_output.h"

namespace heed {
namespace {

const models::AutoregressiveModel& with_decoder(const models::LoadedModel& loaded) {
  const auto* model = dynamic_cast<const models::AutoregressiveModel*>(loaded.model.get());
  if (model == nullptr) {
    fail(ErrorKind::kUsage, "'{}' is an encoder alone, which writes nothing: use forward()",
         loaded.directory());
  }
  return *model;
}

}  // namespace

RowDecoding::RowDecoding(const models::LoadedModel& loaded, const std::vector<int32_t>& ids,
                         const std::vector<int32_t>& decoder_ids, const Hooks& hooks)
    : model_(with_decoder(loaded)), hooks_(model_, hooks), context_(loaded.context()) {
  const ModelInput input = checked_input(model_, ids, decoder_ids);
  context_.states = &hooks_;
  state_ = model_.start(context_);
  const bool translates = input.source.count() > 0;
  sentence_ = model_.admit(context_, *state_, translates ? input.source : input.target).at(0);
  // Of a prompt, all but the last token have been read.
  const std::vector<int32_t>& read_here = input.target.ids;
  length_ = translates ? 0 : static_cast<int64_t>(read_here.size()) - 1;
  for (size_t n = static_cast<size_t>(length_); n < read_here.size(); ++n) {
    read({{.sentence = sentence_, .parent = translates && n > 0 ? 0 : -1, .token = read_here[n]}});
  }
}

void RowDecoding::require(const std::vector<int32_t>& tokens, const std::vector<int>& parents) const {
  if (!complete_) {
    fail(ErrorKind::kUsage, "an earlier step of this decoding ended with an exception: start another one");
  }
  const int64_t most = model_.max_length();
  if (most > 0 && length_ >= most) {
    fail(ErrorKind::kUsage, "the decoder has read {} tokens, which is the model's maximum: end the text",
         length_);
  }
  if (tokens.empty()) fail(ErrorKind::kShape, "there are no tokens for this step: give one for each row");
  if (parents.empty() && static_cast<int64_t>(tokens.size()) != rows()) {
    fail(ErrorKind::kShape, "there are {} tokens for {} rows: give one for each, or the parents of new rows",
         tokens.size(), rows());
  }
  if (!parents.empty() && parents.size() != tokens.size()) {
    fail(ErrorKind::kShape, "there are {} parents for {} tokens: give one for each", parents.size(),
         tokens.size());
  }
  for (size_t n = 0; n < tokens.size(); ++n) require_id(tokens[n], n, model_.vocabulary_size());
  for (const int parent : parents) {
    if (parent >= 0 && parent < rows()) continue;
    fail(ErrorKind::kUsage, "there is no row {} to continue: rows are 0 to {}", parent, rows() - 1);
  }
}

void RowDecoding::step(const std::vector<int32_t>& tokens, const std::vector<int>& parents) {
  require(tokens, parents);
  std::vector<models::StepRow> rows;
  for (size_t n = 0; n < tokens.size(); ++n) {
    const int parent = parents.empty() ? static_cast<int>(n) : parents[n];
    rows.push_back({.sentence = sentence_, .parent = parent, .token = tokens[n]});
  }
  read(rows);
}

void RowDecoding::read(const std::vector<models::StepRow>& rows) {
  complete_ = false;
  hooks_.read_position(static_cast<int>(length_));
  const Tensor logits = model_.step(context_, *state_, rows);
  logits_ = logits.reshape({static_cast<int64_t>(rows.size()), model_.vocabulary_size()});
  models::require_finite_output(logits_);
  ++length_;
  complete_ = true;
}

}  // namespace heed
