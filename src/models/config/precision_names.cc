#include "models/config/precision_names.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "kernels/gemm/packed/packed_bf16.h"
#include "kernels/simd/isa.h"

namespace heed::models {
namespace {

struct NamedPrecision {
  const char* name;
  Precision precision;
};
constexpr std::array<NamedPrecision, 4> kPrecisions{{{"float32", Precision::kFloat32},
                                                     {"int8", Precision::kInt8},
                                                     {"int4", Precision::kInt4},
                                                     {"bfloat16", Precision::kBfloat16}}};

}  // namespace

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const NamedPrecision& each : kPrecisions) names.emplace_back(each.name);
  return names;
}

std::string name_of(Precision precision) {
  return std::ranges::find(kPrecisions, precision, &NamedPrecision::precision)->name;
}

std::optional<Precision> precision_named(const std::string& name) {
  if (name.empty()) return {};
  for (const NamedPrecision& each : kPrecisions) {
    if (each.name == name) return each.precision;
  }
  fail(ErrorKind::kUsage, "unknown precision '{}'; choose one of {}", name,
       fmt::join(precision_names(), ", "));
}

bool runs_here(Precision precision) {
  return precision != Precision::kBfloat16 || has_bf16_products();
}

void require_runs_here(Precision precision) {
  if (runs_here(precision)) return;
  fail(ErrorKind::kUsage,
       "the precision {} is for processors with AVX512-BF16 or AMX; on {}, the instruction set in use, it "
       "would "
       "not be faster than float32: choose float32 or int8",
       name_of(precision), isa_name());
}

}  // namespace heed::models
