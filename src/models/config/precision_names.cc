#include "models/config/precision_names.h"

#include "base/check.h"

namespace heed::models {

std::string name_of(Precision precision) {
  return precision == Precision::kInt8 ? "int8" : "float32";
}

std::optional<Precision> precision_named(const std::string& name) {
  if (name.empty()) return {};
  for (const Precision each : {Precision::kFloat32, Precision::kInt8}) {
    if (name_of(each) == name) return each;
  }
  fail(ErrorKind::kUsage, "unknown precision '{}'; choose float32 or int8", name);
}

}  // namespace heed::models
