// gzip (RFC 1952, with zlib) and zstd (RFC 8878). Compressed files may be concatenated: the result
// decompresses to the concatenation. Zero bytes behind a gzip member are left out, as gzip does: tapes and
// disk images fill blocks with them. Skippable frames of zstd, such as those of pzstd, are left out, too.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace heed {

enum class Compression { kNone, kGzip, kZstd };

/// By the end of a file name: .gz, .zst, or neither.
Compression compression_of_name(std::string_view path);

/// By the first bytes of a file.
Compression compression_of_content(std::string_view first_bytes);
/// Whether more bytes are needed for compression_of_content().
bool needs_more_to_recognize(std::string_view first_bytes);

/// One complete gzip member or zstd frame that decompresses to `text`; the text itself for kNone. The same
/// text always gives the same bytes with the same version of the library.
std::string compress(std::string_view text, Compression compression);

/// Decompresses a stream of one or more members or frames.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Removes what it reads from `input`, writes to `output` and returns the number of bytes written. It may
  /// write nothing if the input is used up. Throws kFormat for damaged data.
  virtual size_t decompress(std::string_view& input, char* output, size_t size) = 0;
  /// At the end of the input: throws kFormat if a member is begun but unfinished, or if something follows
  /// that is not compressed.
  virtual void finish() const = 0;
};

/// `name` is the file for messages. `compression` is not kNone.
std::unique_ptr<Decompressor> make_decompressor(Compression compression, const std::string& name);

}  // namespace heed
