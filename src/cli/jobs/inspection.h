// What heed lens, heed attribute and heed patch share: a text that a model reads, and a result that is
// written as JSON, as text for the terminal, or as a picture.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/model_lookup.h"
#include "cli/options/command.h"
#include "inspect/draw/picture.h"
#include "inspect/reading/model_to_inspect.h"

namespace heed::cli {

struct InspectionOptions {
  CommonOptions common;
  ModelChoice model;
  std::string text, output;  // --output: empty or "-" is standard output
  bool json = false;
  std::optional<int> columns;

  bool writes_json() const { return json || output.ends_with(".json"); }
  /// --columns, or those of the terminal.
  int table_columns() const;
};

/// Adds --output and --json, and begins the group of the other options of output.
void add_result_options(Command& command, InspectionOptions& o);
/// Adds the options that every command has last: languages and precision of the model, and the common ones.
void add_last_options(Command& command, InspectionOptions& o);

/// Throws kText for a text that is not UTF-8 (the text and `others`), and kUsage for an empty text, for
/// --json with --output, and for a name of an output that is neither JSON nor a picture.
void check_inspection(const InspectionOptions& o, const std::vector<std::string>& others);

ModelToInspect load_to_inspect(const InspectionOptions& o);

/// Notes that several target tokens have the name that --token gives.
void note_namesakes(const InspectionOptions& o, const std::string& token, const Reading& reading);

/// The lines with source and target above a table.
std::string source_and_target(const std::string& source, const std::string& target);

/// The forms of a result; the one that is asked for is made.
struct InspectionForms {
  std::function<std::string()> json, text;
  std::function<Picture()> picture;
};
/// Writes the result, and says on standard error to which file.
void write_inspection(const InspectionOptions& o, const InspectionForms& forms);

}  // namespace heed::cli
