#include "models/formats/ctranslate2_mapping.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "base/text/string_list.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

class MappedWeights final : public TensorReader {
 public:
  MappedWeights(Ctranslate2File file, std::vector<MappedRows> all)
      : TensorReader(file.path(), infos_of(file, all)), file_(std::move(file)), all_(std::move(all)) {}

 protected:
  bool reads_parts(size_t index) const override { return !all_[index].transposed; }
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override {
    const MappedRows& rows = all_[index];
    const TensorInfo& info = infos()[index];
    const size_t element = size_of(info.dtype);
    auto* to = static_cast<char*>(destination);
    if (rows.transposed) {
      const Tensor matrix = file_.read(rows.variable);
      const auto* from = static_cast<const char*>(matrix.bytes());
      for (int64_t i = begin; i < begin + count; ++i, to += element) {
        const int64_t row = i / info.shape[1], column = i % info.shape[1];
        std::memcpy(to, from + static_cast<size_t>(column * info.shape[0] + row) * element, element);
      }
      return;
    }
    const int64_t width = info.shape.size() / info.shape[0];
    const int64_t zeros = rows.zeros_before * width;  // elements before those of the variable
    const int64_t before = std::clamp<int64_t>(zeros - begin, 0, count);
    const int64_t at = begin + before - zeros;  // in the rows of the variable
    const int64_t stored = std::clamp<int64_t>(rows.rows * width - at, 0, count - before);
    std::memset(to, 0, static_cast<size_t>(before) * element);
    to += static_cast<size_t>(before) * element;
    if (stored > 0) file_.read_part(rows.variable, rows.first * width + at, stored, to);
    std::memset(to + static_cast<size_t>(stored) * element, 0,
                static_cast<size_t>(count - before - stored) * element);
  }

 private:
  static std::vector<TensorInfo> infos_of(const Ctranslate2File& file, const std::vector<MappedRows>& all) {
    std::vector<TensorInfo> infos;
    uint64_t at = 0;
    for (const MappedRows& rows : all) {
      TensorInfo info{.name = {}, .type = "F32", .shape = {1}, .end = sizeof(float)};
      if (!rows.variable.empty()) info = file.info(rows.variable);
      const uint64_t bytes = (info.end - info.begin) / static_cast<uint64_t>(info.shape[0]);  // of a row
      info.name = rows.name;
      const int64_t length = rows.zeros_before + rows.rows + rows.zeros_after;
      info.shape.set(0, length);
      if (rows.transposed) info.shape = {info.shape[1], info.shape[0]};
      info.begin = at;
      info.end = at += bytes * static_cast<uint64_t>(length);
      infos.push_back(std::move(info));
    }
    return infos;
  }

  Ctranslate2File file_;
  std::vector<MappedRows> all_;
};

}  // namespace

std::unique_ptr<TensorReader> mapped_weights(Ctranslate2File file, std::vector<MappedRows> all) {
  return std::make_unique<MappedWeights>(std::move(file), std::move(all));
}

void Ctranslate2Mapper::refuse(const std::string& why) const {
  fail(ErrorKind::kFormat, "'{}' is a model of CTranslate2 that Heed does not support: {}",
       files_.directory(), why);
}

double Ctranslate2Mapper::setting(const std::string& name, std::optional<double> fallback) {
  used_.insert(name);
  const std::optional<double> value = file_.number(name);
  if (!value && !fallback) refuse(fmt::format("the setting '{}' is missing", name));
  return value.value_or(fallback.value_or(0));
}

const Shape& Ctranslate2Mapper::shape_of(const std::string& variable) const {
  if (!file_.has(variable)) refuse(fmt::format("'{}' is missing", variable));
  return file_.info(variable).shape;
}

void Ctranslate2Mapper::take_rows(const std::string& name, const std::string& variable, int64_t first,
                                  int64_t count) {
  const Shape& shape = shape_of(variable);
  if (shape.rank() == 0 || count < 1 || first + count > shape[0]) {
    refuse(fmt::format("'{}' has the shape {}", variable, shape.to_string()));
  }
  rows_.push_back({name, variable, first, count});
  used_.insert(variable);
}

void Ctranslate2Mapper::take_table(const Ctranslate2Row& row, const nn::ParameterTable& table) {
  const std::string& name = row.names.front();
  int64_t length = 0;
  for (int n = 0; n < table.size(); ++n) {
    if (table[n].name == name) length = table[n].shape[0];
  }
  HEED_CHECK(length > 0);
  if (!file_.has(row.variable) && row.variable == kCtranslate2OutputBias) {
    rows_.push_back({.name = name, .variable = "", .zeros_after = length});
    return;
  }
  const Shape& shape = shape_of(row.variable);
  take_rows(name, row.variable, 0, shape.rank() == 0 ? 0 : shape[0]);
  MappedRows& taken = rows_.back();
  taken.zeros_before = row.skipped_rows;
  const int64_t missing = length - row.skipped_rows - taken.rows;
  if (missing < 0 || missing > 1)
    refuse(fmt::format("'{}' has {} rows, but should have {}", row.variable, taken.rows,
                       length - row.skipped_rows));
  taken.zeros_after = missing;
}

void Ctranslate2Mapper::take_stacked(const Ctranslate2Row& row, const Ctranslate2Suffix& suffix) {
  const std::string variable = row.variable + suffix.variable;
  if (suffix.optional && !file_.has(variable)) return;
  const Shape& shape = shape_of(variable);
  const auto parts = static_cast<int64_t>(row.names.size());
  const int64_t all = shape.rank() == 0 ? 0 : shape[0];
  int64_t first = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t count = row.rows.empty() ? all / parts : row.rows[static_cast<size_t>(part)];
    take_rows(row.names[static_cast<size_t>(part)] + suffix.name, variable, first, count);
    first += count;
  }
  if (first != all) refuse(fmt::format("'{}' has the shape {}", variable, shape.to_string()));
  rows_.back().transposed = row.transposed && shape.rank() == 2;
}

void Ctranslate2Mapper::take(const std::vector<Ctranslate2Row>& rows, const nn::ParameterTable& table) {
  for (const Ctranslate2Row& row : rows) {
    if (row.kind == Ctranslate2Row::Kind::kTable) {
      take_table(row, table);
      continue;
    }
    for (const Ctranslate2Suffix& suffix : suffixes_of(row.kind)) take_stacked(row, suffix);
  }
}

double Ctranslate2Mapper::layer_setting(const std::string& stack, int64_t layers, const std::string& name,
                                        std::optional<double> fallback) {
  const auto value_in = [&](int64_t n) {
    return setting(fmt::format("{}/layer_{}/{}", stack, n, name), fallback);
  };
  const double value = value_in(0);
  for (int64_t n = 1; n < layers; ++n) {
    if (value_in(n) != value)
      refuse(fmt::format("'{}' differs between layers", name.substr(name.rfind('/') + 1)));
  }
  return value;
}

int64_t Ctranslate2Mapper::layers_of(const std::string& stack) const {
  int64_t layers = 0;
  while (file_.has(fmt::format("{}/layer_{}/ffn/linear_0/weight", stack, layers))) ++layers;
  if (layers == 0) refuse(fmt::format("the {} has no layers", stack));
  return layers;
}

std::string Ctranslate2Mapper::activation_name(double number) const {
  const std::vector<std::optional<Activation>>& all = ctranslate2_activations();
  const bool known =
      number >= 0 && number < static_cast<double>(all.size()) && all[static_cast<size_t>(number)];
  if (!known) refuse(fmt::format("the activation {} is unknown", number));
  return name_in(activation_names(), *all[static_cast<size_t>(number)]);
}

std::vector<std::string> Ctranslate2Mapper::vocabulary_of(const std::string& name, int64_t rows) const {
  const std::string file = name.empty() ? "vocabulary" : name + "_vocabulary";
  std::vector<std::string> pieces = read_string_list(files_, file);
  if (static_cast<int64_t>(pieces.size()) != rows) {
    fail(ErrorKind::kFormat, "'{}': the {}{}vocabulary has {} pieces, but the embedding {} rows",
         files_.directory(), name, name.empty() ? "" : " ", pieces.size(), rows);
  }
  return pieces;
}

int64_t Ctranslate2Mapper::id_of(const std::vector<std::string>& pieces, const std::string& piece) const {
  const auto found = std::ranges::find(pieces, piece);
  if (found == pieces.end()) refuse(fmt::format("its vocabulary has no '{}'", shown(piece)));
  return found - pieces.begin();
}

void Ctranslate2Mapper::require_all_used() const {
  for (const TensorInfo& info : file_.infos()) {
    if (used_.count(info.name) > 0 || info.name.starts_with("decoder/alignment_") ||
        file_.number(info.name) == 0.0) {
      continue;
    }
    refuse(fmt::format("'{}' is not part of a model that it knows", shown(info.name)));
  }
}

}  // namespace heed::models
