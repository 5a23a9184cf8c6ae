#include "models/model_directory.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "io/safetensors.h"
#include "io/weight_files.h"

namespace heed::models {

nn::Context LoadedModel::context() const {
  nn::Context context;
  context.table = &model->table();
  context.values = &values;
  context.packed = packed.get();
  return context;
}

namespace {

[[noreturn]] void refuse(const LoadedModel& loaded) {
  switch (loaded.model->task()) {
    case Task::kTranslation:
      fail(ErrorKind::kUsage, "'{}' holds a model that translates ({}): use heed translate, or heed attend",
           loaded.directory, loaded.model_type);
    case Task::kLanguageModel:
      fail(ErrorKind::kUsage,
           "'{}' holds a language model ({}): use heed generate, heed score, or heed attend",
           loaded.directory, loaded.model_type);
    case Task::kClassification:
      fail(ErrorKind::kUsage, "'{}' holds a classifier ({}): use heed classify, or heed attend",
           loaded.directory, loaded.model_type);
    case Task::kMaskedLanguageModel:
      fail(ErrorKind::kUsage, "'{}' holds a masked language model ({}), which fills gaps: use heed fill",
           loaded.directory, loaded.model_type);
  }
  HEED_CHECK(false);
}

template <typename Kind>
const Kind& as(const LoadedModel& loaded) {
  const auto* model = dynamic_cast<const Kind*>(loaded.model.get());
  if (model == nullptr) refuse(loaded);
  return *model;
}

/// The name under which a file holds a parameter; empty where it does not.
std::string stored_name(const WeightFiles& files, const nn::ParamSpec& spec) {
  if (files.has(spec.name)) return spec.name;
  for (const std::string& alias : spec.aliases) {
    if (files.has(alias)) return alias;
  }
  return "";
}

/// Whether a file's tensor is a row's, which files may hold transposed. final_logits_bias is (1, V) there.
bool fits(const Shape& shape, const Shape& wanted) {
  return shape == wanted || (shape.rank() == wanted.rank() + 1 && shape[0] == 1 &&
                             std::equal(shape.begin() + 1, shape.end(), wanted.begin()));
}

Shape stored_shape(const nn::ParamSpec& spec) {
  return spec.transposed ? Shape{spec.shape[1], spec.shape[0]} : spec.shape;
}

/// Throws unless the files hold a row, in its shape.
void require_row(const WeightFiles& files, const nn::ParamSpec& spec) {
  const std::string name = stored_name(files, spec);
  if (name.empty()) {
    fail(ErrorKind::kFormat,
         "'{}': config.json asks for a parameter '{}' of shape {}, but the weights do not hold it",
         files.directory(), spec.name, spec.shape.to_string());
  }
  const Shape& shape = files.info(name).shape;
  const Shape wanted = stored_shape(spec);
  if (!fits(shape, wanted)) {
    fail(ErrorKind::kFormat, "'{}': config.json gives '{}' the shape {}, the weights hold {}",
         files.directory(), name, wanted.to_string(), shape.to_string());
  }
}

/// Throws for a tensor that is none of the table's.
void require_nothing_else(const WeightFiles& files, const nn::ParameterTable& table) {
  std::set<std::string> known;
  for (int row = 0; row < table.size(); ++row) {
    known.insert(table[row].name);
    known.insert(table[row].aliases.begin(), table[row].aliases.end());
  }
  for (const std::string& name : files.names()) {
    if (known.count(name) == 0 && !table.leaves_out(name)) {
      fail(ErrorKind::kFormat,
           "'{}': the weights hold '{}', which this model does not have; do config.json and the "
           "weights belong together?",
           files.directory(), name);
    }
  }
}

/// (rows, columns) becomes (columns, rows), in place.
void transpose(float* matrix, const Shape& shape) {
  const int64_t rows = shape[0], columns = shape[1];
  const std::vector<float> before(matrix, matrix + rows * columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      matrix[column * rows + row] = before[row * columns + column];
    }
  }
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

namespace {

/// Reads a row that the files hold.
void read_row(const WeightFiles& files, const nn::ParameterTable& table, int row,
              nn::ParameterArray& values) {
  const nn::ParamSpec& spec = table[row];
  const std::string name = stored_name(files, spec);
  Tensor view = values.view(table, {row, 1});
  float* value = view.data<float>();
  files.read_into(name, value, files.info(name).shape);
  if (spec.transposed) transpose(value, files.info(name).shape);
  for (int64_t i = 0; i < view.size(); ++i) {
    if (!(value[i] - value[i] == 0)) {  // infinite, or not a number
      fail(ErrorKind::kFormat, "'{}': the parameter '{}' holds {} at place {}", files.directory(), spec.name,
           value[i], i);
    }
  }
}

}  // namespace

void read_weights(const std::string& directory, const nn::ParameterTable& table, nn::ParameterArray& values) {
  const WeightFiles files = WeightFiles::open(directory);
  for (int row = 0; row < table.size(); ++row) require_row(files, table[row]);
  require_nothing_else(files, table);
  values = nn::ParameterArray(table, DType::kFloat32);
  for (int row = 0; row < table.size(); ++row) read_row(files, table, row, values);
}

std::vector<std::string> read_weights_over(const std::string& directory, const nn::ParameterTable& table,
                                           const std::vector<std::string>& anew, nn::ParameterArray& values) {
  const WeightFiles files = WeightFiles::open(directory);
  const auto may_begin_anew = [&](const std::string& name) {
    return std::ranges::any_of(anew, [&](const std::string& prefix) { return name.starts_with(prefix); });
  };
  std::vector<std::string> kept;
  for (int row = 0; row < table.size(); ++row) {
    const nn::ParamSpec& spec = table[row];
    const std::string name = stored_name(files, spec);
    const bool held = !name.empty() && fits(files.info(name).shape, stored_shape(spec));
    if (!held && may_begin_anew(spec.name)) {
      kept.push_back(spec.name);
      continue;
    }
    require_row(files, spec);
    read_row(files, table, row, values);
  }
  if (anew.empty()) require_nothing_else(files, table);
  return kept;
}

void write_weights(const std::string& directory, const nn::ParameterTable& table,
                   const nn::ParameterArray& values, DType dtype) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int row = 0; row < table.size(); ++row) {
    Tensor value = values.view(table, {row, 1});
    if (table[row].name == "final_logits_bias") value = value.reshape({1, value.size()});
    if (table[row].transposed) {
      value = value.clone();
      transpose(value.data<float>(), value.shape());
      value = value.reshape({value.dim(1), value.dim(0)});
    }
    tensors.emplace_back(table[row].name, dtype == DType::kFloat32 ? value : value.to(dtype));
  }
  write_safetensors(directory + "/model.safetensors", tensors, {{"format", "pt"}});
}

Task task_of(const std::string& directory) {
  return architecture_of(JsonObject::read(directory + "/config.json")).task;
}

LoadedModel load_model(const std::string& directory) {
  LoadedModel loaded;
  loaded.directory = directory;
  const JsonObject config = JsonObject::read(directory + "/config.json");
  loaded.model_type = config.string("model_type");
  loaded.model = architecture_of(config).read(config);
  read_weights(directory, loaded.model->table(), loaded.values);
  loaded.packed = std::make_unique<nn::PackedWeights>();
  loaded.generation = read_generation_defaults(directory, config);
  const auto* generator = dynamic_cast<const Generator*>(loaded.model.get());
  if (generator != nullptr && generator->longest() > 0) {
    loaded.generation.max_length = std::min(loaded.generation.max_length, generator->longest());
  }
  return loaded;
}

}  // namespace heed::models
