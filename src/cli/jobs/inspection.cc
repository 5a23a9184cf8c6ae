#include "cli/jobs/inspection.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/input_notes.h"
#include "cli/options/terminal.h"
#include "inspect/draw/picture_file.h"
#include "inspect/reading/predictions.h"
#include "inspect/trace/label.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {

int InspectionOptions::table_columns() const {
  return columns ? *columns : std::max(40, terminal_columns());
}

void add_result_options(Command& command, InspectionOptions& o) {
  command.add_option("--output F", o.output, "Write to this file: .png, .svg, .pdf or .json");
  command.add_switch("--json", o.json, "Write JSON to standard output");
  command.group(kOutputOptions);
}

void add_last_options(Command& command, InspectionOptions& o) {
  add_language_options(command, o.model);
  add_precision_option(command, o.model.precision);
  add_common_options(command, o.common);
}

void check_inspection(const InspectionOptions& o, const std::vector<std::string>& others) {
  const auto require_utf8 = [](const std::string& text) {
    if (find_invalid_utf8(text)) fail(ErrorKind::kText, "the text is not UTF-8: convert it first");
  };
  require_utf8(o.text);
  for (const std::string& text : others) require_utf8(text);
  if (strip(o.text).empty()) fail(ErrorKind::kUsage, "the text is empty: give a text");
  if (o.json && !o.output.empty())
    fail(ErrorKind::kUsage, "--json writes to standard output: leave it out, and give --output F.json");
  if (!o.output.empty() && o.output != "-" && !o.writes_json())
    picture_format(o.output, ".json, ");  // reports a wrong name before the work
}

ModelToInspect load_to_inspect(const InspectionOptions& o) {
  return ModelToInspect(load_model(find_model(o.model), o.model.precision),
                        {o.model.source_language, o.model.target_language});
}

void note_namesakes(const InspectionOptions& o, const std::string& token, const Reading& reading) {
  if (token != kAllTokens && !reading.target_tokens.empty())
    find_token(token, reading.target_tokens, o.common.quiet);
}

std::string source_and_target(const std::string& source, const std::string& target) {
  std::string text = fmt::format("source: {}\n", visible_text(source));
  if (!target.empty()) text += fmt::format("target: {}\n", visible_text(target));
  return text;
}

void write_inspection(const InspectionOptions& o, const InspectionForms& forms) {
  LineOutput output(o.output);
  if (o.writes_json()) {
    output.write(forms.json());
  } else if (output.to_stdout()) {
    output.write(forms.text());
  } else {
    output.write(render_picture(forms.picture(), picture_format(o.output)));
  }
  output.commit();
  if (!o.common.quiet && !output.to_stdout()) std::fprintf(stderr, "wrote %s\n", o.output.c_str());
}

}  // namespace heed::cli
