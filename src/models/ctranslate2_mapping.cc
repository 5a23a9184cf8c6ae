#include "models/ctranslate2_mapping.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/printable.h"
#include "base/string_list.h"

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
    const int64_t stored = std::clamp<int64_t>(rows.rows * width - begin, 0, count);
    if (stored > 0) file_.read_part(rows.variable, rows.first * width + begin, stored, destination);
    std::memset(to + static_cast<size_t>(stored) * element, 0, static_cast<size_t>(count - stored) * element);
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
      info.shape.set(0, rows.rows + rows.zero_rows);
      if (rows.transposed) info.shape = {info.shape[1], info.shape[0]};
      info.begin = at;
      info.end = at += bytes * static_cast<uint64_t>(rows.rows + rows.zero_rows);
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
  fail(ErrorKind::kFormat, "'{}' is a model of CTranslate2 that Heed does not support: {}", directory_, why);
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

void Ctranslate2Mapper::take(const std::string& name, const std::string& variable, int part, int parts) {
  const Shape& shape = shape_of(variable);
  if (shape.rank() == 0 || shape[0] == 0 || shape[0] % parts != 0) {
    refuse(fmt::format("'{}' has the shape {}", variable, shape.to_string()));
  }
  take_rows(name, variable, part * (shape[0] / parts), shape[0] / parts);
}

void Ctranslate2Mapper::take_linear(const std::string& name, const std::string& variable, int part,
                                    int parts) {
  take(name + ".weight", variable + "/weight", part, parts);
  take(name + ".bias", variable + "/bias", part, parts);
}

void Ctranslate2Mapper::take_norm(const std::string& name, const std::string& variable) {
  take(name + ".weight", variable + "/gamma");
  take(name + ".bias", variable + "/beta");
}

std::string Ctranslate2Mapper::activation_name(double number) const {
  // By number; 4 is x sigmoid(1.702 x).
  static constexpr const char* kActivations[] = {"relu",  "gelu_new", "swish",  "gelu",
                                                 nullptr, "tanh",     "sigmoid"};
  const char* name =
      number >= 0 && number < std::size(kActivations) ? kActivations[static_cast<size_t>(number)] : nullptr;
  if (name == nullptr) refuse(fmt::format("the activation {} is unknown", number));
  return name;
}

std::vector<std::string> Ctranslate2Mapper::vocabulary_of(const std::string& name, int64_t rows) const {
  const std::string file = name.empty() ? "vocabulary" : name + "_vocabulary";
  std::vector<std::string> pieces = read_string_list(directory_ + "/" + file);
  if (static_cast<int64_t>(pieces.size()) != rows) {
    fail(ErrorKind::kFormat, "'{}': the {}{}vocabulary has {} pieces, but the embedding {} rows", directory_,
         name, name.empty() ? "" : " ", pieces.size(), rows);
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
