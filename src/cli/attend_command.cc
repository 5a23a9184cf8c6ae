// heed attend: the attention of a translation, of a classifier, or of a language model to its text, in the
// terminal or as a picture, a page or numbers.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/checked_options.h"
#include "cli/classification.h"
#include "cli/command.h"
#include "cli/language_model.h"
#include "cli/line_output.h"
#include "cli/model_lookup.h"
#include "cli/search_flags.h"
#include "cli/terminal.h"
#include "cli/translation.h"
#include "inspect/attention_picture.h"
#include "inspect/attention_terminal.h"
#include "inspect/bar_picture.h"
#include "inspect/classifier_trace.h"
#include "inspect/explorer_page.h"
#include "inspect/label.h"
#include "inspect/picture_file.h"
#include "inspect/query_terminal.h"
#include "inspect/text_trace.h"
#include "inspect/trace_json.h"
#include "inspect/translation_trace.h"
#include "inspect/words.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed::cli {
namespace {

struct AttendOptions {
  ModelChoice model;
  SearchFlags search;
  std::vector<std::string> texts;
  std::string target, output;
  std::string stack, layer, head, query;  // empty: what suits the output and the model
  bool words = false, values = false, details = false, no_color = false, json = false, quiet = false;
  std::optional<int> columns;
};

enum class Format { kTerminal, kPicture, kPage, kJson };

/// By the name of the output; throws kUsage for a name that says nothing, before any work is done.
Format format_of(const AttendOptions& o) {
  if (o.json) {
    if (!o.output.empty())
      fail(ErrorKind::kUsage, "--json writes to standard output: name the file F.json instead");
    return Format::kJson;
  }
  if (o.output.empty() || o.output == "-") return Format::kTerminal;
  std::string extension = std::filesystem::path(o.output).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension == ".json") return Format::kJson;
  if (extension == ".html") return Format::kPage;
  if (extension != ".png" && extension != ".svg" && extension != ".pdf") {
    fail(ErrorKind::kUsage, "cannot write '{}': the name must end in .png, .svg, .pdf, .html or .json",
         o.output);
  }
  return Format::kPicture;
}

/// What decides in a classifier is the first token, [CLS]: in a terminal, what it looked at is shown, between
/// words, unless something else is asked for.
void suit_classifier(AttendOptions& o, Format format) {
  if (format != Format::kTerminal || !o.query.empty()) return;
  if (!o.stack.empty() || !o.layer.empty() || !o.head.empty()) return;
  o.query = "1";
  o.words = true;
}

/// A terminal has room for a matrix or two. Unless it is asked for more, it shows the last layer of the
/// cross-attention, or of the encoder where there is none, its heads averaged, and so does one query by
/// itself; files hold everything.
AttentionSelection selection_of(const AttendOptions& o, Format format, const Trace& trace) {
  const auto or_all = [](const std::string& choice) { return choice.empty() ? "all" : choice; };
  AttentionSelection selection = parse_selection(or_all(o.stack), or_all(o.layer), or_all(o.head));
  if (format != Format::kTerminal && o.query.empty()) return selection;
  if (o.stack.empty() && !trace.cross.empty()) selection.stack = Stack::kCross;
  if (o.stack.empty() && trace.cross.empty() && !trace.encoder.empty()) selection.stack = Stack::kEncoder;
  if (o.stack.empty() && trace.cross.empty() && trace.encoder.empty()) selection.stack = Stack::kDecoder;
  if (o.head.empty()) selection.mean = true;
  if (o.layer.empty() && selection.stack) {
    const size_t layers = stack_of(trace, *selection.stack).size();
    if (layers > 0) selection.layer = static_cast<int>(layers) - 1;
  }
  return selection;
}

int columns_of(const AttendOptions& o) {
  return o.columns ? *o.columns : std::max(20, terminal_columns());
}

TerminalColours colours_of(const AttendOptions& o) {
  return o.no_color || !o.output.empty() ? TerminalColours::kNone : stdout_colours();
}

void require_text(const char* what, const std::string& text) {
  if (find_invalid_utf8(text)) fail(ErrorKind::kText, "the {} is not UTF-8: convert it first", what);
  if (strip(text).empty()) fail(ErrorKind::kUsage, "the {} is empty: there is no attention to look at", what);
}

/// The pass of a language model over each text.
std::vector<Trace> record_texts(const AttendOptions& o, models::LoadedModel loaded) {
  if (!o.target.empty()) {
    fail(ErrorKind::kUsage, "'{}' holds a language model, whose text is its own target: leave out --target",
         loaded.directory);
  }
  const LanguageModelFiles model = with_tokenizer(std::move(loaded));
  std::vector<Trace> traces;
  for (const std::string& text : o.texts)
    traces.push_back(trace_language_model(model.loaded, *model.tokenizer, text, o.details));
  return traces;
}

/// The pass of each translation through the model, of its own or of --target.
std::vector<Trace> record_translations(const AttendOptions& o, models::LoadedModel loaded) {
  const TranslationModel model = translation_model(std::move(loaded));
  const auto search = translator_options(o.search, model.loaded).search;
  std::vector<Trace> traces;
  for (const std::string& text : o.texts)
    traces.push_back(trace_text(model.loaded, model.tokenizer, {text, o.target, search, o.details}));
  return traces;
}

std::vector<Trace> record_classifications(const AttendOptions& o, models::LoadedModel loaded) {
  if (!o.target.empty())
    fail(ErrorKind::kUsage, "--target is for models that translate, and this one classifies");
  const ClassifierModel model = classifier_model(std::move(loaded));
  std::vector<Trace> traces;
  for (const std::string& text : o.texts) {
    traces.push_back(
        trace_classification(model.loaded, model.tokenizer, classifier_text(text), nullptr, o.details));
  }
  return traces;
}

/// The tokens that have this name, with the mark of a new word or without; counted from 0.
std::vector<size_t> tokens_named(std::string_view name, const std::vector<std::string>& tokens) {
  std::vector<size_t> found;
  for (size_t n = 0; n < tokens.size(); ++n) {
    std::string_view token = tokens[n];
    if (token == name || (strip_word_mark(token) && token == name)) found.push_back(n);
  }
  return found;
}

/// A number from 1 to `most`; nothing for other text.
std::optional<size_t> number_in(std::string_view text, size_t most) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) return {};
  return number;
}

/// The token that --query means: "7", the seventh; "Hund", the first of that name; "Hund:2", the second.
size_t find_query(const std::string& query, const std::vector<std::string>& tokens, bool quiet) {
  if (const auto number = number_in(query, tokens.size())) return *number - 1;
  const std::vector<size_t> named = tokens_named(query, tokens);
  if (named.size() > 1 && !quiet) {
    std::vector<size_t> numbers;
    for (const size_t n : named) numbers.push_back(n + 1);
    std::fprintf(
        stderr, "heed: '%s' is the name of the tokens %s; this is the first. --query %s:2 is the second\n",
        shown(query).c_str(), fmt::format("{}", fmt::join(numbers, ", ")).c_str(), shown(query).c_str());
  }
  if (!named.empty()) return named.front();
  const size_t colon = query.rfind(':');
  if (colon != std::string::npos) {
    const std::string name = query.substr(0, colon);
    const std::vector<size_t> candidates = tokens_named(name, tokens);
    if (const auto which = number_in(query.substr(colon + 1), candidates.size()))
      return candidates[*which - 1];
    if (!candidates.empty()) {
      fail(ErrorKind::kUsage, "--query {}: there is no such token; of '{}' there {} {}", shown(query),
           shown(name), candidates.size() == 1 ? "is" : "are", candidates.size());
    }
  }
  fail(ErrorKind::kUsage,
       "--query {}: there is no such token; give one of these, or its number from 1 to {}: {}", shown(query),
       tokens.size(), shown(fmt::format("{}", fmt::join(tokens, " ")), 1000));
}

/// Whether --query names a word that is cut into several tokens, and no token.
bool names_a_word(const std::string& query, const AttentionSelection& selection, const Trace& trace) {
  if (!selection.stack) return false;
  const std::string name = query.substr(0, query.rfind(':'));
  const auto named_in = [&](const Trace& each) {
    const std::vector<std::string>& tokens = query_tokens(each, *selection.stack);
    return number_in(query, tokens.size()) || !tokens_named(query, tokens).empty() ||
           !tokens_named(name, tokens).empty();
  };
  return !named_in(trace) && named_in(group_by_words(trace));
}

/// The row of the matrix that --query means.
QueryChoice query_of(const AttendOptions& o, const AttentionSelection& selection, const Trace& trace) {
  if (!selection.stack || !selection.layer || (!selection.mean && !selection.head)) {
    fail(ErrorKind::kUsage,
         "--query shows a row of one matrix: choose one --stack, one --layer, and one --head or mean");
  }
  QueryChoice choice{*selection.stack, *selection.layer, selection.mean ? 0 : *selection.head, 0};
  choice.query = static_cast<int>(find_query(o.query, query_tokens(trace, choice.stack), o.quiet));
  return choice;
}

std::string one_query(const AttendOptions& o, Format format, const Trace& trace, const QueryChoice& choice) {
  if (format == Format::kPicture)
    return render_picture(query_picture(trace, choice), picture_format(o.output));
  if (format != Format::kTerminal) {
    fail(ErrorKind::kUsage,
         "--query is for the terminal and for pictures; numbers and pages hold all queries");
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
      break;  // holds several traces
    case Format::kJson:
      return trace_to_json(trace);
  }
  HEED_CHECK(false);
}

/// The pass through the model, whatever it is for.
std::vector<Trace> record(const AttendOptions& o, models::LoadedModel loaded) {
  switch (loaded.model->task()) {
    case models::Task::kClassification:
      return record_classifications(o, std::move(loaded));
    case models::Task::kLanguageModel:
      return record_texts(o, std::move(loaded));
    default:
      return record_translations(o, std::move(loaded));
  }
}

/// Everything that can be wrong with the options before the model is opened.
void check_options(const AttendOptions& o, Format format) {
  for (const std::string& text : o.texts) require_text("text", text);
  if (!o.target.empty()) require_text("--target", o.target);
  if (o.texts.size() > 1 && format != Format::kPage)
    fail(ErrorKind::kUsage, "several texts are for a page (--output F.html): give one, in quotes");
  if (o.texts.size() > 1 && !o.target.empty())
    fail(ErrorKind::kUsage, "--target is the translation of one text, and there are {}", o.texts.size());
  if (o.details && format != Format::kJson)
    fail(ErrorKind::kUsage, "--details are numbers: write them with --json or --output F.json");
  if (o.details && (o.words || o.head == "mean"))
    fail(ErrorKind::kUsage, "--details are those of single heads and tokens: leave out --words and mean");
}

/// As one word for a shell.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// The command that shows the same with everything that needs the model.
std::string serve_command(const AttendOptions& o, const std::string& directory) {
  const bool bundled = o.model.model.empty() && std::getenv("HEED_MODEL") == nullptr;
  if (!bundled) return "heed serve --model " + shell_word(directory);
  return "heed serve --pair " + (o.model.pair.empty() ? "de-en" : o.model.pair);
}

std::string page(const AttendOptions& o, const std::string& directory, const std::vector<Trace>& traces) {
  if (!o.query.empty()) {
    fail(ErrorKind::kUsage, "--query is for the terminal and for pictures; a page holds all queries");
  }
  std::vector<Trace> chosen;
  for (const Trace& trace : traces) chosen.push_back(select(trace, selection_of(o, Format::kPage, trace)));
  return explorer_page(chosen, {o.words, serve_command(o, directory)});
}

std::string one_trace(const AttendOptions& o, Format format, Trace trace) {
  const AttentionSelection selection = selection_of(o, format, trace);
  trace = select(trace, selection);
  if (o.words || (!o.query.empty() && names_a_word(o.query, selection, trace))) trace = group_by_words(trace);
  return o.query.empty() ? render(o, format, trace)
                         : one_query(o, format, trace, query_of(o, selection, trace));
}

int run_attend(AttendOptions o) {
  const Format format = format_of(o);
  check_options(o, format);
  if (format == Format::kPage) o.details = true;
  const std::string directory = find_model(o.model);
  models::LoadedModel loaded = load_model(directory, o.model.precision, o.model.shortlist);
  if (loaded.model->task() == models::Task::kClassification) suit_classifier(o, format);
  const std::vector<Trace> traces = record(o, std::move(loaded));
  LineOutput output(o.output);
  output.write(format == Format::kPage ? page(o, directory, traces) : one_trace(o, format, traces.at(0)));
  output.commit();
  if (!o.quiet && !output.to_stdout()) {
    for (const Trace& trace : traces) {
      if (!trace.source.empty()) std::fprintf(stderr, "%s\n", printable(trace.source).c_str());
      std::fprintf(stderr, "%s\n", printable(trace.target).c_str());
    }
    std::fprintf(stderr, "is in %s\n", o.output.c_str());
  }
  return kExitDone;
}

}  // namespace

void add_attend(Command& app, Work& work) {
  auto o = std::make_shared<AttendOptions>();
  Command* command = app.add_subcommand("attend", "Show what a model attends to");
  command->footer(
      "Examples:\n  heed attend \"Der Hund schläft.\"\n"
      "  heed attend \"Der Hund schläft.\" --stack encoder --layer 1 --head all\n"
      "  heed attend \"Der Hund schläft.\" --target \"The cat sleeps.\" --output attention.svg\n"
      "  heed attend \"a fine film\" --model my-classifier\n\n"
      "Rows are queries, columns are keys, and each row sums to 1. The queries of decoder and cross are the "
      "positions\n"
      "that produce the tokens of the target, its end included; the keys of decoder are what had been read "
      "by then, from\n"
      "the start token on. In the terminal, the last layer of cross with its heads averaged is shown unless "
      "you choose;\n"
      "a file holds every head of every layer. Of a classifier there is the encoder alone, and the terminal "
      "shows what "
      "the\n"
      "position that decides, [CLS], looked at. Of a language model there is the decoder alone; the last row "
      "is the\n"
      "token that it finds likeliest.");
  command
      ->add_option("TEXT", o->texts,
                   "The sentence to translate, or the text to classify or to continue; several for a page")
      ->required();
  command->add_option("--target", o->target, "Look at this translation instead of the model's own")
      ->type_name("TEXT");
  command->add_option("--stack", o->stack, "encoder, decoder, cross or all")->type_name("NAME");
  command->add_option("--layer", o->layer, "A layer, from 1 on, or all")->type_name("N|all");
  command->add_option("--head", o->head, "A head, from 1 on, all, or mean: their average")
      ->type_name("N|all|mean");
  command
      ->add_option(
          "--query", o->query,
          "What one token looks at, as bars: its number from 1, or the token; TOKEN:2 is the second of "
          "that name")
      ->type_name("N|TOKEN");
  command->add_flag("--words", o->words, "Between words instead of pieces of words");
  command->add_flag("--values", o->values, "The weights in per cent in the cells");
  command->add_flag("--details", o->details,
                    "The queries, keys, values and scores of the chosen heads too, in JSON");
  command->add_option("--output", o->output, "Write a file instead: .png, .svg, .pdf, .html or .json")
      ->type_name("F");
  command->add_flag("--json", o->json, "The numbers on standard output");
  add_integer(*command, "--columns", o->columns, "Width in the terminal [$COLUMNS, or that of the terminal]",
              {20, 10000});
  command->add_flag("--no-color", o->no_color, "No colours in the terminal, as with the variable NO_COLOR");
  add_model_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_search_options(*command, o->search);
  add_shortlist_option(*command, o->model.shortlist);
  command->add_flag("--quiet", o->quiet, "Nothing on standard error but errors");
  command->callback([o, &work] { work = [o] { return run_attend(*o); }; });
}

}  // namespace heed::cli
