// Curves from lines of text, drawn as `heed info --curve` draws them:
//
//   heed_draw_curves OUTPUT.svg TITLE X-NAME Y-NAME < lines of "series TAB x TAB y"
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "inspect/draw/curve_picture.h"
#include "inspect/draw/picture_file.h"

int main(int count, char** arguments) try {
  if (count != 5) {
    std::fputs("usage: heed_draw_curves OUTPUT TITLE X-NAME Y-NAME < series TAB x TAB y\n", stderr);
    return 2;
  }
  std::vector<heed::Curve> curves;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::string name;
    double x = 0, y = 0;
    if (!std::getline(fields, name, '\t') || !(fields >> x >> y)) {
      std::fprintf(stderr, "heed_draw_curves: not a series, an x and a y with tabs between: %s\n",
                   line.c_str());
      return 1;
    }
    if (curves.empty() || curves.back().name != name) curves.push_back({name, {}, {}});
    curves.back().x.push_back(x);
    curves.back().y.push_back(y);
  }
  heed::ChartOptions options;
  options.title = arguments[2];
  options.x_name = arguments[3];
  options.y_name = arguments[4];
  heed::save_picture(heed::curve_picture(curves, options), arguments[1]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "heed_draw_curves: %s\n", error.what());
  return 1;
}
