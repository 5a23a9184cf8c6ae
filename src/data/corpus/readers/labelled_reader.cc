#include "data/corpus/readers/labelled_reader.h"

#include "base/check.h"
#include "text/unicode/whitespace.h"

namespace heed {

LabelledReader::LabelledReader(const std::string& path, const LineReaderOptions& options)
    : lines_(path, options) {}

bool LabelledReader::next(LabelledText& text) {
  const auto reject = [&](const char* what) {
    fail(ErrorKind::kFormat, "line {} of {} {}: expected LABEL TAB TEXT, or LABEL TAB TEXT TAB TEXT",
         lines_.line_number(), lines_.name(), what);
  };
  std::string_view line;
  do {
    if (!lines_.next(line)) {
      if (!any_) fail(ErrorKind::kFormat, "{} has no lines: give lines of LABEL TAB TEXT", lines_.name());
      return false;
    }
  } while (strip(line).empty());
  any_ = true;
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) reject("has no tab");
  text = {.label = strip(line.substr(0, tab)),
          .first = line.substr(tab + 1),
          .second = {},
          .line = lines_.line_number()};
  if (text.label.empty()) reject("has no label");
  if (const size_t second = text.first.find('\t'); second != std::string_view::npos) {
    text.second = text.first.substr(second + 1);
    text.first = text.first.substr(0, second);
    if (text.second->find('\t') != std::string_view::npos) reject("has more than two tabs");
  }
  return true;
}

}  // namespace heed
