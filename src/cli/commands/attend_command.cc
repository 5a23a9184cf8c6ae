// heed attend: the attention weights of a translation model, a classifier or a language model for one text,
// in the terminal or as a picture, an HTML page or JSON.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/ascii.h"
#include "base/text/printable.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/classification.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "cli/options/search_flags.h"
#include "cli/options/terminal.h"
#include "inspect/draw/attention_picture.h"
#include "inspect/draw/bar_picture.h"
#include "inspect/draw/picture_file.h"
#include "inspect/explorer/explorer_page.h"
#include "inspect/json/trace_json.h"
#include "inspect/reading/token_choice.h"
#include "inspect/terminal/attention_terminal.h"
#include "inspect/terminal/query_terminal.h"
#include "inspect/terminal/words.h"
#include "inspect/trace/encoder_trace.h"
#include "inspect/trace/text_trace.h"
#include "inspect/trace/translation_trace.h"
#include "models/head_names.h"
#include "tasks/model_files.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/translate_options.h"

namespace heed::cli {
namespace {

struct AttendOptions {
  const Command* command = nullptr;
  ModelChoice model;
  TranslateFlags flags;
  std::vector<std::string> texts;
  std::string target, output;
  std::string stack, layer, head, query;  // empty: a default for the output format and the model
  bool words = false, values = false, details = false, json = false, quiet = false;
  std::optional<int> columns;
  std::optional<bool> colour;  // empty: those of a terminal
};

enum class Format { kTerminal, kPicture, kPage, kJson };

/// The format that the file name extension implies. Throws kUsage for an unknown extension.
Format format_of(const AttendOptions& o) {
  if (o.json) {
    if (!o.output.empty())
      fail(ErrorKind::kUsage, "--json writes to standard output: leave it out, and give --output F.json");
    return Format::kJson;
  }
  if (o.output.empty() || o.output == "-") return Format::kTerminal;
  const std::string extension = ascii_lower(std::filesystem::path(o.output).extension().string());
  if (extension == ".json") return Format::kJson;
  if (extension == ".html") return Format::kPage;
  picture_format(o.output, ".html, .json, ");  // reports a wrong name before the work
  return Format::kPicture;
}

/// An encoder represents a text by its first token, [CLS]: by default, the terminal shows the attention of
/// that query, grouped by words.
void set_encoder_defaults(AttendOptions& o, Format format) {
  if (format != Format::kTerminal || !o.query.empty()) return;
  if (!o.stack.empty() || !o.layer.empty() || !o.head.empty()) return;
  o.query = "1";
  o.words = true;
}

/// In the terminal and with --query, the default is the clearest layer of the cross-attention (in models
/// without, the last of the encoder or the decoder), averaged over its heads. Files contain all heads by
/// default.
AttentionSelection selection_of(const AttendOptions& o, Format format, const Trace& trace) {
  const auto or_all = [](const std::string& choice) { return choice.empty() ? "all" : choice; };
  AttentionSelection selection = parse_selection(or_all(o.stack), or_all(o.layer), or_all(o.head));
  if (format != Format::kTerminal && o.query.empty()) return selection;
  if (o.stack.empty() && !trace.cross.empty()) selection.stack = Stack::kCross;
  if (o.stack.empty() && trace.cross.empty() && !trace.encoder.empty()) selection.stack = Stack::kEncoder;
  if (o.stack.empty() && trace.cross.empty() && trace.encoder.empty()) selection.stack = Stack::kDecoder;
  if (o.head.empty()) selection.mean = true;
  if (o.layer.empty() && selection.stack) {
    const int layer = default_layer(trace, *selection.stack);
    if (layer >= 0) selection.layer = layer;
  }
  return selection;
}

int columns_of(const AttendOptions& o) {
  return o.columns ? *o.columns : std::max(20, terminal_columns());
}

TerminalColours colours_of(const AttendOptions& o) {
  if (!o.output.empty()) return TerminalColours::kNone;
  return stdout_colours(o.colour);
}

void require_text(const char* what, const std::string& text) {
  if (find_invalid_utf8(text)) fail(ErrorKind::kText, "the {} is not UTF-8: convert it first", what);
  if (strip(text).empty()) fail(ErrorKind::kUsage, "the {} is empty: give a text", what);
}

/// The first flag that was given for the model's own translation; empty without any.
std::string search_flag(const AttendOptions& o) {
  for (const search::OptionRow& row : search::given_options(o.flags.options)) {
    if (row.group != search::OptionGroup::kHeads) return search::flag_of(row);
  }
  return {};
}

/// The attention of a language model in a forward pass over each text.
std::vector<Trace> record_texts(const AttendOptions& o, models::LoadedModel loaded) {
  if (!o.target.empty()) {
    fail(ErrorKind::kUsage, "'{}' is a language model, which has no separate target: leave out --target",
         loaded.directory());
  }
  const tasks::LanguageModelFiles model = tasks::with_tokenizer(std::move(loaded));
  const nn::HeadScales heads = models::heads_off(o.flags.options.ablate);
  std::vector<Trace> traces;
  for (const std::string& text : o.texts)
    traces.push_back(trace_language_model(model.loaded, model.tokenizer, text, o.details, heads));
  return traces;
}

/// The attention of the model's own translation of each text, or of --target.
std::vector<Trace> record_translations(const AttendOptions& o, models::LoadedModel loaded) {
  const TranslationModel model = translation_model(o.model, std::move(loaded));
  const translate::TranslatorOptions options = translate::translator_options(model.loaded, o.flags.options);
  std::vector<Trace> traces;
  for (const std::string& text : o.texts)
    traces.push_back(
        trace_text(model.loaded, model.tokenizer,
                   {text, o.target, options.search, o.details, options.constraints, options.heads}));
  return traces;
}

std::vector<Trace> record_classifications(const AttendOptions& o, models::LoadedModel loaded) {
  if (!o.target.empty())
    fail(ErrorKind::kUsage, "--target is for translation models, and '{}' is a classifier: leave it out",
         loaded.directory());
  const EncoderModel model = classifier_model(std::move(loaded));
  const nn::HeadScales heads = models::heads_off(o.flags.options.ablate);
  std::vector<Trace> traces;
  for (const std::string& text : o.texts) {
    traces.push_back(
        trace_classification(model.loaded, model.tokenizer, classifier_text(text), o.details, heads));
  }
  return traces;
}

/// Of masked language models and encoders without a head.
std::vector<Trace> record_encodings(const AttendOptions& o, models::LoadedModel loaded) {
  if (!o.target.empty())
    fail(ErrorKind::kUsage, "--target is for translation models, and '{}' is an encoder: leave it out",
         loaded.directory());
  const EncoderModel model = tasks::encoder_model(std::move(loaded));
  const nn::HeadScales heads = models::heads_off(o.flags.options.ablate);
  std::vector<Trace> traces;
  for (const std::string& text : o.texts)
    traces.push_back(trace_encoder_text(model.loaded, model.tokenizer, text, o.details, heads));
  return traces;
}

/// The row of the attention matrix that --query selects.
QueryChoice query_of(const AttendOptions& o, const AttentionSelection& selection, const Trace& trace) {
  if (!selection.stack || !selection.layer || (!selection.mean && !selection.head)) {
    fail(ErrorKind::kUsage,
         "--query shows one row of one attention matrix: give one --stack, one --layer, and one --head or "
         "mean");
  }
  QueryChoice choice{*selection.stack, *selection.layer, selection.mean ? 0 : *selection.head, 0};
  choice.query = static_cast<int>(find_token(o.query, query_tokens(trace, choice.stack), o.quiet));
  return choice;
}

std::string one_query(const AttendOptions& o, Format format, const Trace& trace, const QueryChoice& choice) {
  if (format == Format::kPicture)
    return render_picture(query_picture(trace, choice), picture_format(o.output));
  if (format != Format::kTerminal) {
    fail(ErrorKind::kUsage,
         "--query is for the terminal and for pictures; HTML and JSON contain all queries: leave it out");
  }
  QueryTerminalOptions options;
  options.columns = columns_of(o);
  options.colours = colours_of(o);
  return query_terminal(trace, choice, options);
}

std::string terminal_text(const AttendOptions& o, const Trace& trace) {
  TerminalOptions options;
  options.columns = columns_of(o);
  options.colours = colours_of(o);
  options.values = o.values;
  return attention_terminal(trace, options);
}

std::string picture(const AttendOptions& o, const Trace& trace) {
  PictureOptions options;
  options.values = o.values;
  return render_picture(attention_picture(trace, options), picture_format(o.output));
}

std::string render(const AttendOptions& o, Format format, const Trace& trace) {
  switch (format) {
    case Format::kTerminal:
      return terminal_text(o, trace);
    case Format::kPicture:
      return picture(o, trace);
    case Format::kPage:
      break;  // written by page(), from several traces
    case Format::kJson:
      return trace_to_json(trace);
  }
  HEED_CHECK(false);
}

/// The attention weights of a forward pass of the model over each text.
std::vector<Trace> record(const AttendOptions& o, models::LoadedModel loaded) {
  const auto require_translation = [&](const std::string& flag) {
    if (flag.empty() || loaded.model->task() == models::Task::kTranslation) return;
    fail(ErrorKind::kUsage, "{} is for models that translate, and '{}' is not one: leave it out", flag,
         loaded.directory());
  };
  require_translation(search_flag(o));
  require_translation(o.model.source_language.empty() ? "" : "--source-language");
  require_translation(o.model.target_language.empty() ? "" : "--target-language");
  switch (loaded.model->task()) {
    case models::Task::kClassification:
      return record_classifications(o, std::move(loaded));
    case models::Task::kLanguageModel:
      return record_texts(o, std::move(loaded));
    case models::Task::kMaskedLanguageModel:
    case models::Task::kEmbedding:
      return record_encodings(o, std::move(loaded));
    case models::Task::kTranslation:
      return record_translations(o, std::move(loaded));
  }
  HEED_CHECK(false);
}

/// Throws kUsage for combinations of options that are invalid for every model.
void check_options(const AttendOptions& o, Format format) {
  for (const std::string& text : o.texts) require_text("text", text);
  if (!o.target.empty()) require_text("--target", o.target);
  if (o.texts.size() > 1 && format != Format::kPage)
    fail(ErrorKind::kUsage,
         "only an HTML page (--output F.html) shows several texts: give one text, in quotes");
  if (o.texts.size() > 1 && !o.target.empty())
    fail(ErrorKind::kUsage, "--target is the translation of one text, but there are {}: give one text",
         o.texts.size());
  if (const std::string flag = search_flag(o); !o.target.empty() && !flag.empty())
    fail(ErrorKind::kUsage, "{} is for the model's own translation: leave out --target", flag);
  if (o.details && format != Format::kJson)
    fail(ErrorKind::kUsage, "--details needs JSON output: give --json or --output F.json");
  if (o.details && (o.words || o.head == "mean"))
    fail(ErrorKind::kUsage, "--details shows single heads and tokens: leave out --words and --head mean");
}

/// The text quoted for a POSIX shell.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// The command that serves the same model in the explorer.
std::string serve_command(const AttendOptions& o, const std::string& directory) {
  const std::string pair = wanted_pair(o.model);
  return pair.empty() ? "heed serve --model " + shell_word(directory) : "heed serve --pair " + pair;
}

/// The options that were given and decide about the traces of a page, besides the model.
std::string trace_options(const Command& command) {
  static const std::vector<std::string> others{"--model",   "--pair",  "--output", "--stack",
                                               "--layer",   "--head",  "--words",  "--values",
                                               "--columns", "--color", "--quiet"};
  std::string words;
  for (const GivenOption& given : command.given_options()) {
    if (std::ranges::count(others, given.name) > 0) continue;
    const bool is_switch = given.name == "--shortlist";
    for (const std::string& value : given.values) {
      const std::string name = is_switch && value == "false" ? "--no-" + given.name.substr(2) : given.name;
      words += (words.empty() ? "" : " ") + name + (is_switch ? "" : " " + shell_word(value));
    }
  }
  return words;
}

std::string page(const AttendOptions& o, const std::string& directory, const std::vector<Trace>& traces) {
  if (!o.query.empty()) {
    fail(ErrorKind::kUsage,
         "--query is for the terminal and pictures; a page shows all queries: leave it out");
  }
  std::vector<Trace> selected;
  for (const Trace& trace : traces) selected.push_back(select(trace, selection_of(o, Format::kPage, trace)));
  return explorer_page(selected, {o.words, serve_command(o, directory), trace_options(*o.command)});
}

/// Whether --query names a word of several tokens, and not a single token.
bool query_is_a_word(const AttendOptions& o, const AttentionSelection& selection, const Trace& trace) {
  return !o.query.empty() && selection.stack &&
         !names_a_token(o.query, query_tokens(trace, *selection.stack)) &&
         names_a_token(o.query, query_tokens(group_by_words(trace), *selection.stack));
}

std::string one_trace(const AttendOptions& o, Format format, Trace trace) {
  const AttentionSelection selection = selection_of(o, format, trace);
  trace = select(trace, selection);
  if (o.words || query_is_a_word(o, selection, trace)) trace = group_by_words(trace);
  return o.query.empty() ? render(o, format, trace)
                         : one_query(o, format, trace, query_of(o, selection, trace));
}

int run_attend(AttendOptions o) {
  const Format format = format_of(o);
  check_options(o, format);
  if (format == Format::kPage) o.details = true;
  models::LoadedModel loaded = load_model(find_model(o.model), o.model.precision, o.model.shortlist);
  const std::string directory = loaded.directory();
  if (dynamic_cast<const models::Encoder*>(loaded.model.get()) != nullptr) set_encoder_defaults(o, format);
  const std::vector<Trace> traces = record(o, std::move(loaded));
  LineOutput output(o.output);
  output.write(format == Format::kPage ? page(o, directory, traces) : one_trace(o, format, traces.at(0)));
  output.commit();
  if (!o.quiet && !output.to_stdout()) {
    for (const Trace& trace : traces) {
      if (!trace.source.empty()) std::fprintf(stderr, "%s\n", printable(trace.source).c_str());
      if (!trace.target.empty()) std::fprintf(stderr, "%s\n", printable(trace.target).c_str());
    }
    std::fprintf(stderr, "wrote %s\n", o.output.c_str());
  }
  return kExitDone;
}

}  // namespace

void add_attend(Command& app, Work& work) {
  auto [command, o] = add_command(app, work, "attend", "Show the attention weights of a model", run_attend);
  o->command = command;
  command->footer(R"(Examples:
  heed attend "Der Hund schläft."
  heed attend "Der Hund schläft." --stack encoder --layer 1 --head all
  heed attend "Der Hund schläft." --target "The cat sleeps." --output attention.svg
  heed attend "a fine film" --model my-classifier

Rows are queries, columns are keys, and each row sums to 1. The queries of decoder and cross are the
positions that produce the target tokens, including the end token; the keys of decoder are the tokens read
so far, beginning with the start token. By default, the terminal shows the layer of the cross-attention that
points most clearly at words, averaged over its heads, and a file contains every head of every layer. A
classifier, a masked language model or a model of embeddings has only an encoder; the terminal shows the
attention of [CLS], from which a classifier decides. A language model has only a decoder; its queries are the
tokens that it reads.)");
  command
      ->add_option("TEXT", o->texts,
                   "Text to translate, classify, embed or continue; several texts only for .html")
      ->required();
  add_model_options(*command, o->model);
  command->add_option("--target TEXT", o->target, "Use this translation instead of the model's own")
      ->refuse_empty();
  command->add_option("--stack NAME", o->stack, "encoder, decoder, cross or all");
  command->add_option("--layer N|all", o->layer, "Layer, counted from 1, or all");
  command->add_option("--head N|all|mean", o->head,
                      "Head, counted from 1, all, or mean (average over heads)");
  command->add_option("--output F", o->output, "Write to this file: .png, .svg, .pdf, .html or .json");
  command->add_switch("--json", o->json, "Write JSON to standard output");
  command->group(kOutputOptions);
  command->add_option("--query N|TOKEN", o->query,
                      "Show the attention of one query as bars: its position, counted from 1, or the token; "
                      "TOKEN:2 is its second occurrence");
  command->add_switch("--words", o->words, "Group subword pieces into words");
  command->add_switch("--values", o->values, "Show the weights as percentages in the cells");
  command->add_switch("--details", o->details,
                      "Include the queries, keys, values and scores of the selected heads (JSON only)");
  add_columns(*command, o->columns, 20);
  command->add_switch("--color", o->colour,
                      "Colours [default: on a terminal, unless the environment variable NO_COLOR is set]");
  using enum search::OptionGroup;
  add_translate_options(*command, o->flags, {kHeads, kConstraints, kSearch});
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_shortlist_option(*command, o->model.shortlist);
  add_quiet(*command, o->quiet);
}

}  // namespace heed::cli
