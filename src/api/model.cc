#include "heed/model.h"

#include "inspect/running/forward_pass.h"
#include "inspect/running/model_ids.h"
#include "inspect/running/row_decoding.h"
#include "models/config/precision_names.h"
#include "search/rules/search_options.h"

namespace heed {

struct Model::State {
  const models::Model& model() const { return *loaded.model; }
  models::LoadedModel loaded;
};

struct Decoding::State {
  std::shared_ptr<const Model::State> model;  // which the decoding refers to
  RowDecoding decoding;
};

Model::Model(const std::string& directory, const std::string& precision)
    : state_(std::make_shared<const State>(
          State{models::load_model(directory, {.precision = models::precision_named(precision)})})) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

bool Model::has_encoder() const {
  return id_ranges(state_->model()).source > 0;
}

bool Model::has_decoder() const {
  return id_ranges(state_->model()).decoder > 0;
}

int Model::layers(Stack stack) const {
  return state_->model().layers(stack);
}

int Model::heads(Stack stack) const {
  return state_->model().attention_heads(stack).heads;
}

int64_t Model::vocabulary_size() const {
  const IdRanges ranges = id_ranges(state_->model());
  return ranges.decoder > 0 ? ranges.decoder : ranges.source;
}

int64_t Model::source_vocabulary_size() const {
  const IdRanges ranges = id_ranges(state_->model());
  return ranges.source > 0 ? ranges.source : ranges.decoder;
}

int64_t Model::max_length() const {
  return max_tokens(state_->model());
}

int32_t Model::start_id() const {
  return heed::start_id(state_->model());
}

std::vector<int32_t> Model::end_ids() const {
  const auto* model = dynamic_cast<const models::AutoregressiveModel*>(&state_->model());
  if (model == nullptr) return {};
  search::SearchOptions options;
  options.end_ids = state_->loaded.generation.end_ids;
  return search::end_ids_of(options, *model);
}

ForwardResult Model::forward(const std::vector<int32_t>& ids, const std::vector<int32_t>& decoder_ids,
                             const ForwardOptions& options) const {
  return forward_pass(state_->loaded, ids, decoder_ids, options);
}

Decoding Model::start(const std::vector<int32_t>& ids, const std::vector<int32_t>& decoder_ids,
                      const Hooks& hooks) const {
  // NOLINTNEXTLINE(modernize-make-unique): the state cannot be moved
  auto state = std::unique_ptr<Decoding::State>(
      new Decoding::State{state_, RowDecoding(state_->loaded, ids, decoder_ids, hooks)});
  return Decoding(std::move(state));
}

Decoding::Decoding(std::unique_ptr<State> state) : state_(std::move(state)) {}
Decoding::~Decoding() = default;
Decoding::Decoding(Decoding&&) noexcept = default;
Decoding& Decoding::operator=(Decoding&&) noexcept = default;

const Tensor& Decoding::logits() const {
  return state_->decoding.logits();
}

int Decoding::rows() const {
  return state_->decoding.rows();
}

int64_t Decoding::length() const {
  return state_->decoding.length();
}

const Tensor& Decoding::step(const std::vector<int32_t>& tokens, const std::vector<int>& parents) {
  state_->decoding.step(tokens, parents);
  return logits();
}

}  // namespace heed
