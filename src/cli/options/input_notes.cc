#include "cli/options/input_notes.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "base/check.h"
#include "base/text/ascii.h"
#include "base/text/printable.h"
#include "cli/files/model_lookup.h"
#include "inspect/reading/token_choice.h"
#include "text/sentences/language_codes.h"
#include "text/sentences/language_id.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

constexpr size_t kSampleLines = 100, kSampleBytes = 8192;
// Names and short phrases are often taken for another language. A script of its own is told by few letters.
constexpr size_t kLeastLatinBytes = 60, kLeastOtherBytes = 25;

/// "00:00:01,000 --> 00:00:02,500"
bool is_cue_time(std::string_view line) {
  const size_t arrow = line.find(" --> ");
  return arrow != std::string_view::npos && line.size() > arrow + 5 && is_ascii_digit(line[0]) &&
         is_ascii_digit(line[arrow + 5]) && line.substr(0, arrow).find(':') != std::string_view::npos;
}
bool is_webvtt(std::string_view line) {
  return line == "WEBVTT" || line.starts_with("WEBVTT ");
}
bool is_message_key(std::string_view line) {
  return line.starts_with("msgid \"") || line.starts_with("msgstr \"") || line.starts_with("msgctxt \"");
}
bool is_markup_beginning(std::string_view line) {
  return line.starts_with("<!DOCTYPE") || line.starts_with("<!doctype") || line.starts_with("<html");
}
bool is_xml_beginning(std::string_view line) {
  return line.starts_with("<?xml");
}
/// `{"key": ...` and `"key": ...`, as in indented JSON
bool is_json_member(std::string_view line) {
  line = line.substr(std::min(line.find_first_not_of(" \t[{"), line.size()));
  const size_t end = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
  return end != std::string_view::npos && strip(line.substr(end + 1)).starts_with(':');
}
bool is_code_fence(std::string_view line) {
  return line.starts_with("```");
}
bool is_heading(std::string_view line) {
  return line.starts_with("# ") || line.starts_with("## ") || line.starts_with("### ");
}
bool is_latex(std::string_view line) {
  return line.starts_with("\\documentclass") || line.starts_with("\\begin{");
}
bool is_pdf(std::string_view line) {
  return line.starts_with("%PDF-");
}

/// A kind of file whose lines are not just text, and by what it is known.
struct FileKind {
  const char* name;
  bool (*shows)(std::string_view line);
  size_t least_lines;  ///< that show it
  const char* advice;
};

constexpr const char* kOnlyText =
    "give only the lines that are text; everything else is translated like words";
constexpr std::array kFileKinds{
    FileKind{"subtitles", is_cue_time, 1, kOnlyText},
    FileKind{"subtitles", is_webvtt, 1, kOnlyText},
    FileKind{
        "a .po file", is_message_key, 2,
        "give only the texts of msgid, without quotation marks; everything else is translated like words"},
    FileKind{"HTML", is_markup_beginning, 1, "give --format html to keep the markup"},
    FileKind{"XML", is_xml_beginning, 1, kOnlyText},
    FileKind{"JSON", is_json_member, 2,
             "give only the values that are text; everything else is translated like words"},
    FileKind{"Markdown", is_code_fence, 2, "give --format markdown to keep the markup"},
    FileKind{"Markdown", is_heading, 2, "give --format markdown to keep the markup"},
    FileKind{"LaTeX", is_latex, 1, kOnlyText},
    FileKind{"a PDF file", is_pdf, 1, "give its text"}};

/// The kind of file that the lines of a text show; nullptr if it is just text.
const FileKind* kind_of(std::string_view text) {
  std::array<size_t, kFileKinds.size()> shown_by{};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    for (size_t n = 0; n < kFileKinds.size(); ++n) {
      if (kFileKinds[n].shows(text.substr(0, end)) && ++shown_by[n] == kFileKinds[n].least_lines)
        return &kFileKinds[n];
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return nullptr;
}

/// What the text looks like, and which bundled pairs or models are for it.
std::string language_note(const std::string& text, const std::string& language, const std::string& expected,
                          const std::string& advice) {
  std::vector<std::string> pairs;
  for (const BundledModel& model : bundled_models()) {
    if (model.pair.starts_with(language + "-")) pairs.push_back(model.pair);
  }
  return fmt::format("{} like {}, but the model translates from {}: {}give {}a model for it with --model",
                     text, language_name(language), language_name(language_tag(expected)), advice,
                     pairs.empty() ? "" : fmt::format("--pair {}, or ", fmt::join(pairs, " or ")));
}

/// Whether most words begin with a capital, as in lists of names, whose language is nobody's.
bool is_list_of_names(std::string_view text) {
  size_t capitals = 0, words = 0;
  for (const std::string_view word : split_whitespace(text)) {
    size_t at = 0;
    capitals += u_isupper(static_cast<UChar32>(next_code_point(word, at))) != 0 ? 1 : 0;
    ++words;
  }
  return capitals * 2 > words;
}

/// The language of a text if it is certainly not `expected`, else empty.
std::string wrong_language(std::string_view text, const std::string& expected) {
  const std::string tag = language_tag(expected);
  if (expected.empty() || !is_identified_language(tag)) return "";
  const auto other_scripts = static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }));
  const bool is_latin = other_scripts * 2 < text.size();
  if (text.size() < (is_latin ? kLeastLatinBytes : kLeastOtherBytes)) return "";
  if (is_list_of_names(text)) return "";
  return other_language(text, tag);
}

}  // namespace

bool names_file(const std::string& argument) {
  std::error_code ignored;  // such as that of a name that is too long
  return !argument.empty() && std::filesystem::exists(argument, ignored) &&
         !std::filesystem::is_directory(argument, ignored);
}

std::string file_name_note(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text == "-") return "'-' is read as text; to read standard input, give no text, or --input -";
    if (!names_file(text)) continue;
    return fmt::format("'{}' is the name of a file, and is read as text; to read the file, give --input {}",
                       text, text);
  }
  return "";
}

void note_file_names(const std::vector<std::string>& texts, bool quiet) {
  const std::string note = quiet ? "" : file_name_note(texts);
  if (!note.empty()) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
}

size_t find_token(const std::string& wanted, const std::vector<std::string>& tokens, bool quiet) {
  const ChosenToken chosen = choose_token(wanted, tokens);
  if (chosen.namesakes.size() > 1 && !quiet) {
    std::vector<size_t> numbers;
    for (const size_t n : chosen.namesakes) numbers.push_back(n + 1);
    std::fprintf(stderr, "note: several tokens are named '%s' (%s); this is the first, and %s:2 the second\n",
                 shown(wanted).c_str(), fmt::format("{}", fmt::join(numbers, ", ")).c_str(),
                 shown(wanted).c_str());
  }
  return chosen.index;
}

bool InputNotes::add(std::string_view line) {
  if (lines_ >= kSampleLines || sample_.size() >= kSampleBytes) return false;
  sample_ += line.substr(0, kSampleBytes);
  sample_ += '\n';
  return ++lines_ < kSampleLines && sample_.size() < kSampleBytes;
}

std::string InputNotes::note() const {
  if (const FileKind* kind = kind_of(sample_)) {
    return fmt::format("the text looks like {}, and is translated line by line: {}", kind->name,
                       kind->advice);
  }
  const std::string language = other_language();
  return language.empty() ? "" : language_note("the text looks", language, source_language_, "");
}

std::string InputNotes::other_language() const {
  return wrong_language(sample_, source_language_);
}

void note_source_language(const std::string& file, const std::vector<std::string_view>& sources,
                          const std::string& source_language) {
  InputNotes notes(source_language);
  for (const std::string_view source : sources) {
    if (!notes.add(source)) break;
  }
  const std::string language = notes.other_language();
  if (language.empty()) return;
  const std::string text =
      file.empty() ? "the sources look" : fmt::format("the sources of '{}' look", printable(file));
  std::fprintf(stderr, "note: %s\n",
               language_note(text, language, source_language, "exchange the sides (--swap), ").c_str());
}

}  // namespace heed::cli
