// Sets the fields of a recipe from text.
#pragma once

#include "train/recipe/recipe.h"

namespace heed::train {

/// Sets the field that the setting names. Throws an error of setting.kind for an unknown key, suggesting the
/// nearest; for a key of an earlier version, naming the present one; for a setting that task or architecture
/// do not have, or that fine-tuning takes from the model; and for an invalid value.
void apply_setting(Recipe& recipe, const Setting& setting);

/// The path that the value of a setting names: absolute, without a slash at the end, and without `.` and
/// `..`, except where a symbolic link stands before `..`. Throws an error of setting.kind for one that is not
/// UTF-8, which a recipe cannot hold.
std::string absolute_path_of(const Setting& setting);

}  // namespace heed::train
