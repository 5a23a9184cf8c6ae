// Notes on standard error about input that is probably not what the user meant: the name of a file as text, a
// subtitle or translation file line by line, another language than the model's. They say what was noticed and
// what to do, once, and change nothing else.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::cli {

/// Whether an argument names a file that can be read; a pipe is one, too.
bool names_file(const std::string& argument);

/// What to say where arguments that are texts name existing files, or "-" for standard input; empty if none
/// does.
std::string file_name_note(const std::vector<std::string>& texts);
/// Writes file_name_note() to standard error unless `quiet`.
void note_file_names(const std::vector<std::string>& texts, bool quiet);

/// The index of the token that choose_token() finds. Writes a note on standard error if several tokens have
/// the name, unless `quiet`.
size_t find_token(const std::string& wanted, const std::vector<std::string>& tokens, bool quiet);

/// Writes a note to standard error if the sources of sentence pairs are certainly in another language than
/// the model's, as are those of a file whose columns are in the other order. `file`: where they are from, or
/// "". `source_language`: the code of the model's, "" if unknown.
void note_source_language(const std::string& file, const std::vector<std::string_view>& sources,
                          const std::string& source_language);

/// Looks at the first lines of a text that is translated line by line.
class InputNotes {
 public:
  /// `source_language`: the code of the model's, "" if unknown.
  explicit InputNotes(std::string source_language) : source_language_(std::move(source_language)) {}

  /// Takes a line into account; false once enough were seen.
  bool add(std::string_view line);
  /// What was noticed in the lines so far; empty if they seem to be what they should be.
  std::string note() const;
  /// The code of the language of the lines so far, if it is certainly not the model's, else empty.
  std::string other_language() const;

 private:
  std::string source_language_, sample_;
  size_t lines_ = 0;
};

}  // namespace heed::cli
