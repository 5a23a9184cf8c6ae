#include "train/tasks/finished_sections.h"

#include <utility>

namespace heed::train {

FinishedSections::FinishedSections(const ParameterSlices& slices, nn::ParameterArray gradients,
                                   std::function<void(size_t)> report)
    : slices_(slices),
      gradients_(std::move(gradients)),
      report_(std::move(report)),
      uses_(slices.sections()) {}

void FinishedSections::begin_backward() {
  for (size_t section = 0; section < uses_.size(); ++section) {
    if (uses_[section] == 0) report_(section);
  }
}

void FinishedSections::made(const Tensor& gradient) {
  for (const size_t section : sections_of(gradient)) ++uses_[section];
}

void FinishedSections::finished(const Tensor& gradient) {
  for (const size_t section : sections_of(gradient)) {
    if (--uses_[section] == 0) report_(section);
  }
}

std::vector<size_t> FinishedSections::sections_of(const Tensor& gradient) const {
  const auto* const all = gradients_.flat().data<float>();
  const auto* const part = gradient.data<float>();
  if (part < all || part >= all + gradients_.flat().size()) return {};
  const Range elements{part - all, part - all + gradient.size()};
  std::vector<size_t> found;
  for (size_t n = 0; n < slices_.sections(); ++n) {
    const Range& section = slices_.section(n);
    if (section.begin < elements.end && elements.begin < section.end) found.push_back(n);
  }
  return found;
}

}  // namespace heed::train
