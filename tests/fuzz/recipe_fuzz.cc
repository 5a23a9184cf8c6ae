// Recipes in TOML: one that is accepted is written, and read again as the same recipe.
#include "fuzz.h"
#include "train/recipe/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz([&] {
    namespace train = heed::train;
    const auto settings = train::read_settings(std::string(heed::text_of(bytes, size)), "input");
    const train::Recipe recipe = train::make_recipe("tiny", "", settings);
    train::check_model_settings(recipe);
    const auto written = train::read_settings(train::to_toml(recipe), "output");
    if (!train::differences(recipe, train::make_recipe("tiny", "", written)).empty()) std::abort();
  });
}
