// Reads continuous text, including line ends, in chunks that can be tokenized independently: the training
// data of language models.
#pragma once

#include <cstdint>
#include <string>

#include "data/corpus/readers/line_reader.h"

namespace heed {

struct RunningTextOptions {
  LineReaderOptions lines = {};
  /// Blank lines separate documents and are not part of them.
  bool documents = false;
  /// A chunk ends at the next suitable position after this many bytes.
  size_t chunk_bytes = 16 << 10;
};

/// A part of the text. The concatenated chunks are the whole text; every line ends with LF.
struct TextChunk {
  std::string text;
  bool ends_document = false;
};

/// Reads a file of any size. Chunks end before a line end between a letter or digit and a character that is
/// no white space, or at the end of a document. Tokenizers always split there, so tokenizing each chunk
/// separately gives the tokens of the whole text. In a text without such line ends, such as one of indented
/// lines, a chunk of 64 times the bytes ends before the white space around a line end, which the next chunk
/// begins with: most tokenizers split before white space in a row, and what they make of it depends only on
/// what follows; those of Llama 3 and Qwen would have joined a line end to punctuation before it. A tokenizer
/// that puts a space before every text, as SentencePiece does, puts one before every chunk.
class RunningText {
 public:
  /// Throws kNotFound or kFile.
  explicit RunningText(const std::string& path, const RunningTextOptions& options = {});

  /// Reads the next chunk; false at the end. Throws the errors of LineReader::next, and kFormat for a file
  /// without text, or with more white space in a row than a line may have.
  bool next(TextChunk& chunk);

  /// Number of characters read so far, including line ends.
  uint64_t characters() const { return characters_; }
  const LineReader& reader() const { return reader_; }
  /// Hash of the file and of the reading options, once next() has returned false.
  uint64_t fingerprint() const;

 private:
  RunningTextOptions options_;
  LineReader reader_;
  std::string waiting_;  // the beginning of the next chunk
  uint64_t characters_ = 0;
  bool has_text_ = false, at_end_ = false;
};

/// Facts about a text after reading it once. Throws the errors of RunningText, and kUsage for standard input,
/// which cannot be read twice.
struct RunningTextFacts {
  uint64_t fingerprint = 0;  ///< RunningText::fingerprint()
  uint64_t characters = 0;
};
RunningTextFacts running_text_facts(const std::string& path, const RunningTextOptions& options = {});

}  // namespace heed
