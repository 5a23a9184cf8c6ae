#include "inspect/patching/patching_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "inspect/draw/elements/axis.h"
#include "inspect/draw/matrix_picture.h"
#include "inspect/terminal/column_table.h"

namespace heed {
namespace {

/// A map with its name, and how its columns are written.
struct NamedMap {
  const PatchMap& map;
  std::string name, title;
  std::vector<std::string> columns;
};

/// Positions with both tokens where the texts differ: "Mann/Frau".
std::vector<std::string> position_names(const Patching& patching, const PatchMap& map) {
  if (&map == &patching.decoder && !patching.encoder.rows.empty()) return translated_token_texts(map.columns);
  std::vector<std::string> names = token_texts(map.columns);
  const std::vector<std::string> others = token_texts(patching.other_tokens);
  for (size_t n = 0; n < std::min(patching.counterparts.size(), names.size()); ++n) {
    if (patching.counterparts[n] < 0) continue;
    const std::string& other = others[static_cast<size_t>(patching.counterparts[n])];
    if (other != names[n]) names[n] += "/" + other;
  }
  return names;
}

/// What a map of positions or layers shows.
std::string title_of(const Patching& patching, const char* stack, const PatchMap& map) {
  if (patching.what == PatchedPart::kPositions) {
    return fmt::format("{}, residual stream after each layer", stack);
  }
  const bool recurrent = map.columns.size() == 1;
  return fmt::format("{}, {}", stack, recurrent ? "the states of each layer" : "what each layer adds");
}

std::vector<NamedMap> maps_of(const Patching& p) {
  std::vector<NamedMap> maps;
  const bool heads = p.what == PatchedPart::kHeads, positions = p.what == PatchedPart::kPositions;
  const auto add = [&](const PatchMap& map, const char* stack, const char* of_heads) {
    if (map.rows.empty()) return;
    maps.push_back({map, stack, heads ? std::string(of_heads) : title_of(p, stack, map),
                    positions ? position_names(p, map) : map.columns});
  };
  add(p.encoder, "encoder", "encoder, heads of self-attention");
  add(p.decoder, "decoder", "decoder, heads of self-attention");
  add(p.cross, "cross", "decoder, heads of cross-attention");
  return maps;
}

/// An end of the colour scale, in quarters; what is a little beyond has the last colour.
double scale_end(double largest) {
  return std::ceil((largest - 0.1) * 4) / 4;
}

std::string effect_text(float effect) {
  if (std::isnan(effect)) return "";
  return decimal_text(static_cast<double>(effect), 2);
}

std::string map_table(const NamedMap& named, const char* corner, int columns) {
  std::vector<std::vector<std::string>> rows{{corner}};
  rows[0].insert(rows[0].end(), named.columns.begin(), named.columns.end());
  const size_t width = named.columns.size();
  for (size_t row = 0; row < named.map.rows.size(); ++row) {
    auto& cells = rows.emplace_back(std::vector<std::string>{named.map.rows[row]});
    for (size_t n = 0; n < width; ++n) cells.push_back(effect_text(named.map.effects[row * width + n]));
  }
  constexpr int kCellColumns = 15;  // "cross-attention"
  return named.title + "\n\n" + column_table(rows, columns, kCellColumns) + "\n";
}

/// One line for each of the largest effects.
std::string largest_effects(const Patching& patching, const std::vector<NamedMap>& maps) {
  constexpr size_t kCount = 5;
  struct Effect {
    float value;
    std::string where;
  };
  std::vector<Effect> effects;
  for (const NamedMap& each : maps) {
    const size_t width = each.columns.size();
    for (size_t n = 0; n < each.map.effects.size(); ++n) {
      if (std::isnan(each.map.effects[n])) continue;
      const std::string &row = each.map.rows[n / width], &column = each.columns[n % width];
      const std::string layer = row == "embedding" ? row : "layer " + row;
      effects.push_back(
          {each.map.effects[n], fmt::format("{}, {}, {}{}", each.name, layer,
                                            patching.what == PatchedPart::kHeads ? "head " : "", column)});
    }
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const Effect& a, const Effect& b) { return std::abs(a.value) > std::abs(b.value); });
  effects.resize(std::min(effects.size(), kCount));
  std::string text = "largest effects\n\n";
  for (const Effect& each : effects) text += fmt::format("{:>6}  {}\n", effect_text(each.value), each.where);
  return text;
}

}  // namespace

std::string patching_table(const Patching& patching, int columns) {
  const std::vector<NamedMap> maps = maps_of(patching);
  std::string target = "the target";
  if (patching.tokens.size() == 1) {
    target = quoted_choice(patching.target_tokens[static_cast<size_t>(patching.tokens[0])], patching.instead);
  }
  std::string text = fmt::format("{} of {}: {:.3f} after the text, {:.3f} after the other\n",
                                 patching.instead.empty() ? "ln P" : "difference of ln P", target,
                                 patching.clean, patching.corrupted);
  text += "what comes back of the difference (1: all) when a part of the other's run is that of the text\n\n";
  const char* corner = patching.what == PatchedPart::kHeads ? "layer, head" : "layer";
  for (const NamedMap& each : maps) text += map_table(each, corner, columns);
  return text + largest_effects(patching, maps);
}

Picture patching_picture(const Patching& patching) {
  std::vector<MatrixPlot> plots;
  float least = 0, most = 1;
  for (const NamedMap& each : maps_of(patching)) {
    MatrixPlot plot{.title = each.title, .matrix = {}, .rows = each.map.rows, .columns = each.columns};
    plot.matrix.queries = static_cast<int>(each.map.rows.size());
    plot.matrix.keys = static_cast<int>(each.columns.size());
    for (const float effect : each.map.effects) {
      // Without a counterpart: masked.
      plot.matrix.weights.push_back(std::isnan(effect) ? -std::numeric_limits<float>::infinity() : effect);
      if (std::isnan(effect)) continue;
      least = std::min(least, effect);
      most = std::max(most, effect);
    }
    plots.push_back(std::move(plot));
  }
  MatrixPictureOptions options;
  options.title = fmt::format("{} | {}", patching.source, patching.other);
  options.scale = "effect";
  options.least = -scale_end(-static_cast<double>(least));
  options.most = scale_end(static_cast<double>(most));
  options.decimals = 2;
  options.masked = "no counterpart";
  options.masked_number = "";
  options.plots_per_row = patching.what == PatchedPart::kPositions ? 1 : 0;
  return matrix_picture(plots, options);
}

}  // namespace heed
