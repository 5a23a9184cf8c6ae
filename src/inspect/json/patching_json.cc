#include "inspect/json/patching_json.h"

#include <fmt/format.h>

#include <cmath>

#include "inspect/json/json_lists.h"

namespace heed {
namespace {

constexpr int kPatchingVersion = 1;

std::string effects_json(const PatchMap& map) {
  std::string rows;
  const size_t width = map.columns.size();
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const std::vector<float> cells(map.effects.begin() + static_cast<std::ptrdiff_t>(row * width),
                                   map.effects.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    rows += (rows.empty() ? "" : ",\n    ") + json_list(cells, ", ", [](float effect) {
              return std::isnan(effect) ? std::string("null") : fmt::format("{}", effect);
            });
  }
  return "[" + rows + "]";
}

/// Of each stack, what `write` gives for its map.
template <typename Write>
std::string for_each_stack(const Patching& patching, const char* name, const Write& write) {
  return fmt::format(" \"{}\": {{\n  \"encoder\": {},\n  \"decoder\": {},\n  \"cross\": {}\n }},\n", name,
                     write(patching.encoder), write(patching.decoder), write(patching.cross));
}

}  // namespace

std::string patching_to_json(const Patching& p) {
  std::string json = fmt::format(
      "{{\n \"version\": {},\n \"model\": {},\n \"source\": {},\n \"other\": {},\n \"target\": {},\n",
      kPatchingVersion, json_text(p.model), json_text(p.source), json_text(p.other), json_text(p.target));
  json += fmt::format(" \"source_tokens\": {},\n \"other_tokens\": {},\n \"target_tokens\": {},\n",
                      json_texts(p.source_tokens), json_texts(p.other_tokens), json_texts(p.target_tokens));
  json += fmt::format(" \"counterparts\": {},\n \"tokens\": {},\n \"instead\": {},\n \"what\": \"{}\",\n",
                      json_list(p.counterparts, ", ",
                                [](int n) { return n < 0 ? std::string("null") : std::to_string(n + 1); }),
                      json_list(p.tokens, ", ", [](int n) { return std::to_string(n + 1); }),
                      p.instead.empty() ? "null" : json_text(p.instead), patched_part_name(p.what));
  json += fmt::format(" \"clean\": {},\n \"corrupted\": {},\n", p.clean, p.corrupted);
  json += for_each_stack(p, "effects", effects_json);
  json += for_each_stack(p, "rows", [](const PatchMap& map) { return json_texts(map.rows); });
  json += for_each_stack(p, "columns", [](const PatchMap& map) { return json_texts(map.columns); });
  return json + fmt::format(" \"evaluations\": {}\n}}\n", p.evaluations);
}

}  // namespace heed
