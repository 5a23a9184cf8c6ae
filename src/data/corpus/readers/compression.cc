#include "data/corpus/readers/compression.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"

namespace heed {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B", kZstdMagic = "\x28\xB5\x2F\xFD";
/// Behind its first byte, 0x50 to 0x5F, the magic number of a skippable frame (RFC 8878, section 3.1.2), with
/// which files of pzstd begin.
constexpr std::string_view kSkippableMagicEnd = "\x2A\x4D\x18";

bool may_begin_skippable_frame(std::string_view first_bytes) {
  return !first_bytes.empty() && (static_cast<unsigned char>(first_bytes[0]) & 0xF0) == 0x50 &&
         kSkippableMagicEnd.starts_with(first_bytes.substr(1, kSkippableMagicEnd.size()));
}

bool begins_zstd(std::string_view first_bytes) {
  return first_bytes.starts_with(kZstdMagic) ||
         (first_bytes.size() > kSkippableMagicEnd.size() && may_begin_skippable_frame(first_bytes));
}

void require_end_of_member(bool ended, const std::string& name) {
  if (!ended) fail(ErrorKind::kFormat, "{} is truncated: its compressed data has no end", name);
}

class Gunzip : public Decompressor {
 public:
  explicit Gunzip(std::string name) : name_(std::move(name)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() override { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  size_t decompress(std::string_view& input, char* output, size_t size) override {
    if (ended_) {
      skip_behind_member(input);
      if (input.empty()) return 0;
      inflateReset(&stream_);
      ended_ = false;
    }
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    const auto given = static_cast<uInt>(std::min(input.size(), kMost)),
               room = static_cast<uInt>(std::min(size, kMost));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      fail(ErrorKind::kFormat, "{} is damaged: gzip {}", name_,
           stream_.msg == nullptr ? "data error" : stream_.msg);
    }
    ended_ = status == Z_STREAM_END;
    input.remove_prefix(given - stream_.avail_in);
    return room - stream_.avail_out;
  }
  void finish() const override {
    if (foreign_ > 0) {
      fail(ErrorKind::kFormat,
           "{} is damaged: its last {} bytes are not gzip data; gzip -dc writes what is before them", name_,
           foreign_);
    }
    require_end_of_member(ended_, name_);
  }

 private:
  /// Removes zero bytes, and counts everything from the first byte on that begins no member.
  void skip_behind_member(std::string_view& input) {
    if (foreign_ == 0) input.remove_prefix(std::min(input.find_first_not_of('\0'), input.size()));
    if (input.empty() || (foreign_ == 0 && input[0] == kGzipMagic[0])) return;
    foreign_ += input.size();
    input = {};
  }

  std::string name_;
  z_stream stream_{};
  bool ended_ = false;
  uint64_t foreign_ = 0;  // bytes behind the last member
};

class Unzstd : public Decompressor {
 public:
  explicit Unzstd(std::string name)
      : name_(std::move(name)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }

  size_t decompress(std::string_view& input, char* output, size_t size) override {
    if (ended_ && input.empty()) return 0;
    ZSTD_inBuffer from{input.data(), input.size(), 0};
    ZSTD_outBuffer to{output, size, 0};
    const size_t status = ZSTD_decompressStream(stream_.get(), &to, &from);
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge) {
      // zstd's own default, of the command and of the library; the whole window is in memory.
      fail(
          ErrorKind::kFormat,
          "{} needs a window of more than 128 MiB, as zstd --long=28 and above make: compress it again (zstd "
          "-dc --long=31 OLD | zstd --long=27 > NEW)",
          name_);
    }
    if (ZSTD_isError(status) != 0) {
      fail(ErrorKind::kFormat, "{} is damaged: zstd {}", name_, ZSTD_getErrorName(status));
    }
    ended_ = status == 0;
    input.remove_prefix(from.pos);
    return to.pos;
  }
  void finish() const override { require_end_of_member(ended_, name_); }

 private:
  std::string name_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  bool ended_ = false;
};

std::string gzip(std::string_view text) {
  constexpr int kGzip = 16, kMemoryLevel = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  HEED_CHECK(status == Z_STREAM_END);
  return packed;
}

std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const size_t size =
      ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), ZSTD_CLEVEL_DEFAULT);
  HEED_CHECK(ZSTD_isError(size) == 0);
  packed.resize(size);
  return packed;
}

}  // namespace

Compression compression_of_name(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::kGzip;
  return path.ends_with(".zst") ? Compression::kZstd : Compression::kNone;
}

Compression compression_of_content(std::string_view first_bytes) {
  if (first_bytes.starts_with(kGzipMagic)) return Compression::kGzip;
  return begins_zstd(first_bytes) ? Compression::kZstd : Compression::kNone;
}

bool needs_more_to_recognize(std::string_view first_bytes) {
  if (first_bytes.size() <= kSkippableMagicEnd.size() && may_begin_skippable_frame(first_bytes)) return true;
  return std::ranges::any_of(std::array{kGzipMagic, kZstdMagic}, [&](std::string_view magic) {
    return first_bytes.size() < magic.size() && magic.starts_with(first_bytes);
  });
}

std::string compress(std::string_view text, Compression compression) {
  HEED_CHECK(text.size() <= std::numeric_limits<uInt>::max() / 2);
  switch (compression) {
    case Compression::kGzip:
      return gzip(text);
    case Compression::kZstd:
      return zstd(text);
    default:
      return std::string(text);
  }
}

std::unique_ptr<Decompressor> make_decompressor(Compression compression, const std::string& name) {
  HEED_CHECK(compression != Compression::kNone);
  if (compression == Compression::kGzip) return std::make_unique<Gunzip>(name);
  return std::make_unique<Unzstd>(name);
}

}  // namespace heed
