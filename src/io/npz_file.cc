#include "io/npz_file.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"

namespace heed {
namespace {

constexpr std::string_view kArrayMagic("\x93NUMPY", 6);
constexpr size_t kMaxArrayHeaderBytes = size_t{1} << 20;

/// NumPy's names of types, and those of safetensors. Byte order: little-endian, or none for single bytes.
struct NumberType {
  std::string_view descr, type;
  DType dtype;
};
constexpr NumberType kNumberTypes[] = {
    {"<f4", "F32", DType::kFloat32}, {"<f8", "F64", DType::kFloat64}, {"<f2", "F16", DType::kFloat16},
    {"|i1", "I8", DType::kInt8},     {"|u1", "U8", DType::kUInt8},    {"<i4", "I32", DType::kInt32},
    {"<i8", "I64", DType::kInt64},
};

/// A type without the byte order of single bytes, which have none, but Marian writes one ("<i1").
std::string without_byte_order(std::string descr) {
  const bool single = descr == "<i1" || descr == "<u1" || descr == ">i1" || descr == ">u1";
  if (single) descr[0] = '|';
  return descr;
}

/// The dictionary in the header of an array.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string origin) : text_(text), origin_(std::move(origin)) {}

  void parse(TensorInfo& info) {
    std::optional<std::string> type;
    std::optional<Shape> shape;
    bool column_major = false;
    require('{');
    while (!take('}')) {
      const std::string key = quoted();
      require(':');
      if (key == "descr") {
        type = quoted();
      } else if (key == "fortran_order") {
        column_major = boolean();
      } else if (key == "shape") {
        shape = tuple();
      } else {
        fail_for(fmt::format("it has an unknown key '{}'", shown(key)));
      }
      if (!take(',') && !is_next('}')) fail_for("it is malformed");
    }
    skip_space();
    if (!text_.empty()) fail_for("something follows it");
    if (!type || !shape) fail_for("it lacks the type or the shape");
    info.shape = *shape;
    if (column_major && info.shape.rank() > 1)
      fail_for("the array is in Fortran order; save it in C order with numpy.ascontiguousarray");
    const auto* known = std::ranges::find(kNumberTypes, without_byte_order(*type), &NumberType::descr);
    info.readable = known != std::end(kNumberTypes);
    info.type = info.readable ? std::string(known->type) : *type;
    if (info.readable) info.dtype = known->dtype;
  }

 private:
  [[noreturn]] void fail_for(const std::string& why) const {
    fail(ErrorKind::kFormat, "the header of {} is not valid: {}", origin_, why);
  }
  void skip_space() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0)
      text_.remove_prefix(1);
  }
  bool is_next(char c) {
    skip_space();
    return text_.starts_with(c);
  }
  bool take(char c) {
    if (!is_next(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void require(char c) {
    if (!take(c)) fail_for(fmt::format("a '{}' is missing", c));
  }
  std::string quoted() {
    const char quote = is_next('"') ? '"' : '\'';
    require(quote);
    const size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail_for("a quotation mark is missing");
    std::string content(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return content;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (!text_.starts_with(name)) continue;
      text_.remove_prefix(name.size());
      return value;
    }
    fail_for("it is malformed");
  }
  Shape tuple() {
    std::vector<int64_t> lengths;
    int64_t room = int64_t{1} << 48;  // elements
    require('(');
    while (!take(')')) {
      skip_space();
      int64_t length = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), length);
      if (error != std::errc() || length < 0) fail_for("its shape is malformed");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      lengths.push_back(length);
      if (length > room) fail_for("its shape is larger than any memory");
      if (length > 1) room /= length;
      if (lengths.size() > Shape::kMaxRank)
        fail_for(fmt::format("it has more than {} axes", Shape::kMaxRank));
      if (!take(',') && !is_next(')')) fail_for("its shape is malformed");
    }
    return Shape(lengths);
  }

  std::string_view text_;
  std::string origin_;
};

TensorInfo read_header(const InputFile& file, const ZipEntry& entry) {
  constexpr std::string_view kExtension = ".npy";
  const std::string origin = fmt::format("'{}' in '{}'", shown(entry.name), file.path());
  const auto fail_short = [&] { fail(ErrorKind::kFormat, "{} is not an array of NumPy", origin); };
  TensorInfo info;
  if (!entry.name.ends_with(kExtension)) fail_short();
  info.name = entry.name.substr(0, entry.name.size() - kExtension.size());
  const auto read = [&](uint64_t at, void* to, size_t count) {
    if (at > entry.size || count > entry.size - at) fail_short();
    file.read_at(entry.begin + at, to, count);
  };
  unsigned char start[8];
  read(0, start, sizeof start);
  if (std::memcmp(start, kArrayMagic.data(), kArrayMagic.size()) != 0) fail_short();
  const size_t length_bytes = start[6] == 1 ? 2 : 4;  // the version
  uint32_t length = 0;
  read(sizeof start, &length, length_bytes);
  if (length > kMaxArrayHeaderBytes)
    fail(ErrorKind::kFormat, "the header of {} has {} bytes", origin, length);
  std::string header(length, '\0');
  read(sizeof start + length_bytes, header.data(), header.size());
  HeaderParser(header, origin).parse(info);
  const uint64_t begin = sizeof start + length_bytes + length;
  info.begin = entry.begin + begin;
  info.end = entry.begin + entry.size;
  const uint64_t bytes = entry.size - begin;
  if (info.readable && bytes != static_cast<uint64_t>(info.shape.size()) * size_of(info.dtype)) {
    fail(ErrorKind::kFormat, "{} has {} bytes of elements, which does not fit its type and shape {}", origin,
         bytes, info.shape.to_string());
  }
  return info;
}

}  // namespace

NpzFile::NpzFile(InputFile file, std::vector<TensorInfo> infos, CheckedZipEntries entries)
    : TensorReader(file.path(), std::move(infos)), file_(std::move(file)), entries_(std::move(entries)) {}

NpzFile NpzFile::open(const std::string& path) {
  InputFile file(path);
  if (!is_zip(file)) fail(ErrorKind::kFormat, "'{}' is not an .npz file", path);
  std::vector<ZipEntry> entries = read_zip_directory(file);
  std::vector<TensorInfo> infos;
  for (const ZipEntry& entry : entries) infos.push_back(read_header(file, entry));
  return {std::move(file), std::move(infos), CheckedZipEntries(std::move(entries))};
}

void NpzFile::read_elements(size_t index, int64_t begin, int64_t count, void* destination) const {
  entries_.require(file_, index);
  const TensorInfo& info = infos()[index];
  const auto element = static_cast<uint64_t>(size_of(info.dtype));
  file_.read_at(info.begin + static_cast<uint64_t>(begin) * element, destination,
                static_cast<size_t>(static_cast<uint64_t>(count) * element));
  file_.require_unchanged();
}

void NpzFile::verify() const {
  entries_.require_all(file_);
}

}  // namespace heed
