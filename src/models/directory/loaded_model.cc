#include "models/directory/loaded_model.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "models/config/precision_names.h"
#include "models/source_vocabulary.h"

namespace heed::models {

int integer_bits(Precision precision) {
  switch (precision) {
    case Precision::kInt8:
      return 8;
    case Precision::kInt4:
      return 4;
    case Precision::kFloat32:
    case Precision::kBfloat16:
      return 0;
  }
  HEED_CHECK(false);
}

bool can_be_used_in(Precision precision, int stored_bits) {
  const int bits = integer_bits(precision);
  return stored_bits == 0 || bits == 0 || bits == stored_bits;
}

const nn::CompactParameters* LoadedModel::compact() const {
  if (quantized != nullptr) return quantized.get();
  if (half != nullptr) return half.get();
  return in_files.get();
}

nn::Context LoadedModel::context() const {
  return packed->context();
}

namespace {

template <typename Kind>
const Kind& as(const LoadedModel& loaded) {
  const auto* model = dynamic_cast<const Kind*>(loaded.model.get());
  if (model == nullptr) refuse_task(loaded.directory(), loaded.model_type, loaded.model->task());
  return *model;
}

}  // namespace

const Seq2Seq& LoadedModel::seq2seq() const {
  return as<Seq2Seq>(*this);
}
const LanguageModel& LoadedModel::language_model() const {
  return as<LanguageModel>(*this);
}
const Classifier& LoadedModel::classifier() const {
  return as<Classifier>(*this);
}
const MaskedLanguageModel& LoadedModel::masked_language_model() const {
  return as<MaskedLanguageModel>(*this);
}
const Encoder& LoadedModel::encoder() const {
  return as<Encoder>(*this);
}

namespace {

std::shared_ptr<const Shortlist> read_shortlist(const LoadedModel& loaded, std::optional<bool> wanted) {
  const auto* model = dynamic_cast<const Seq2Seq*>(loaded.model.get());
  const bool there = model != nullptr && loaded.files.has(model_file::kShortlist);
  if (wanted == true && !there) {
    fail(ErrorKind::kUsage, "'{}' has no shortlist: create one with heed shortlist", loaded.directory());
  }
  if (!there || !wanted.value_or(integer_bits(loaded.precision) != 0)) return nullptr;
  if (source_vocabulary_size(*model) != model->vocabulary_size()) {
    fail(ErrorKind::kFormat,
         "'{}' has a {}, which is for models with one vocabulary, and this one has {} tokens for the source "
         "and {} for the target: remove the file",
         loaded.directory(), model_file::kShortlist, source_vocabulary_size(*model),
         model->vocabulary_size());
  }
  return std::make_shared<Shortlist>(Shortlist::read(loaded.directory(), model->vocabulary_size()));
}

/// Decides where the matrices of a float model are kept, unless they are quantized.
void choose_storage(LoadedModel& loaded, const std::shared_ptr<const WeightFiles>& files,
                    std::optional<WeightStorage> wanted) {
  constexpr int64_t kLarge = 16'000'000;  // 96 MB with kPacked
  const nn::ParameterTable& table = loaded.model->table();
  const WeightStorage storage =
      wanted.value_or(table.elements() >= kLarge ? WeightStorage::kCompact : WeightStorage::kPacked);
  if (storage == WeightStorage::kFloat32) return;
  const std::optional<DType> dtype = stored_matrix_type(*files, table);
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    loaded.half = std::make_unique<nn::HalfParameters>(
        table, *dtype, storage == WeightStorage::kPacked ? HalfPacking::kOnce : HalfPacking::kEachCall);
  } else if (dtype == DType::kFloat32 && storage == WeightStorage::kCompact) {
    loaded.in_files = file_parameters(files, table);
  }
}

/// The precision of weights that are stored with these bits; 0: as floats.
Precision precision_of_bits(int bits) {
  if (bits == 0) return Precision::kFloat32;
  return bits == 4 ? Precision::kInt4 : Precision::kInt8;
}

/// Replaces the weights of a quantized directory by float32.
void dequantize(LoadedModel& loaded) {
  const nn::ParameterTable& table = loaded.model->table();
  nn::ParameterArray values = nn::ParameterArray::unset(table);
  for (int row = 0; row < table.size(); ++row) {
    Tensor to = values.view(table, {row, 1});
    if (loaded.quantized->holds_row(row)) {
      loaded.quantized->widen({row, 1}, 0, to.dim(0), to.data<float>());
    } else {
      const Tensor from = loaded.values.view(table, {row, 1});
      std::copy_n(from.data<float>(), from.size(), to.data<float>());
    }
  }
  loaded.values = std::move(values);
  loaded.quantized.reset();
}

}  // namespace

LoadedModel load_model(const std::string& directory, const LoadOptions& options) {
  return load_model(ModelDirectory::open(directory), options);
}

LoadedModel without_weights(const ModelDirectory& directory, bool encoder) {
  LoadedModel loaded;
  loaded.files = directory.files();
  loaded.model_type = directory.config().string("model_type");
  loaded.model = encoder ? directory.create_encoder() : directory.create_model();
  loaded.generation = read_generation_defaults(directory.files(), directory.config(), loaded.model->task());
  const auto* model = dynamic_cast<const AutoregressiveModel*>(loaded.model.get());
  if (model != nullptr && model->max_length() > 0 && loaded.generation.max_length) {
    loaded.generation.max_length = std::min(*loaded.generation.max_length, model->max_length());
  }
  return loaded;
}

LoadedModel load_model(const ModelDirectory& directory, const LoadOptions& options) {
  LoadedModel loaded = without_weights(directory, options.encoder);
  const int stored_bits = loaded.stored_bits = directory.quantized_bits();
  const nn::ParameterTable& table = loaded.model->table();
  loaded.precision = options.precision.value_or(precision_of_bits(stored_bits));
  const int bits = integer_bits(loaded.precision);
  require_runs_here(loaded.precision);
  if (!can_be_used_in(loaded.precision, stored_bits)) {
    fail(ErrorKind::kUsage, "the weights of '{}' have {} bits: for {}, use the float model", directory.path(),
         stored_bits, name_of(loaded.precision));
  }
  const std::shared_ptr<const WeightFiles>& files = directory.weights();
  require_weights(*files, table, stored_bits);
  if (stored_bits != 0 || bits != 0) {
    loaded.quantized = std::make_unique<nn::QuantizedParameters>(table, std::max(stored_bits, bits));
  } else {
    choose_storage(loaded, files, options.storage);
  }
  const nn::CompactParameters* const compact = loaded.compact();
  loaded.values = nn::ParameterArray::unset(
      table, [&](int row) { return compact != nullptr && compact->holds_row(row); });
  if (stored_bits != 0) {
    read_quantized_weights(*files, table, loaded.values, *loaded.quantized);
    if (bits == 0) dequantize(loaded);
  } else {
    read_weights(*files, table, loaded.values,
                 {loaded.quantized.get(), loaded.half.get(), loaded.in_files.get()});
  }
  const bool in_bfloat16 = loaded.precision == Precision::kBfloat16;
  loaded.packed =
      std::make_unique<nn::PackedWeights>(table, loaded.values, loaded.compact(),
                                          in_bfloat16 ? MatmulPrecision::kMedium : MatmulPrecision::kHighest);
  loaded.shortlist = read_shortlist(loaded, options.shortlist);
  loaded.shortlist_in_beams = options.shortlist.value_or(false);
  return loaded;
}

}  // namespace heed::models
