#include "models/config/config_checks.h"

#include "base/check.h"

namespace heed::models {

void require_positive(const char* model, std::initializer_list<NamedSize> sizes) {
  for (const NamedSize& size : sizes) {
    if (size.value < 1) {
      fail(ErrorKind::kUsage, "{} needs a {} of at least 1, not {}", model, size.name, size.value);
    }
  }
}

void require_special_ids(std::initializer_list<int32_t> ids, int64_t vocabulary, bool optional) {
  for (const int32_t id : ids) {
    if (id == -1 && optional) continue;
    if (id < 0 || id >= vocabulary) {
      fail(ErrorKind::kUsage, "the special token id {} is out of range for a vocabulary of {}", id,
           vocabulary);
    }
  }
}

void require_shared_vocabulary(int64_t source, int64_t target) {
  if (source == target) return;
  fail(ErrorKind::kUsage, "shared embeddings need one vocabulary, not {} source and {} target tokens", source,
       target);
}

}  // namespace heed::models
