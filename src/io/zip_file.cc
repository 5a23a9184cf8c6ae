#include "io/zip_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "io/tensor_reader.h"

namespace heed {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kDirectoryEnd = 0x06054b50,
                   kZip64End = 0x06064b50, kZip64Locator = 0x07064b50;
constexpr size_t kLocalHeaderBytes = 30, kEntryBytes = 46, kEndBytes = 22, kZip64EndBytes = 56,
                 kZip64LocatorBytes = 20;
constexpr uint64_t kMaxDirectoryBytes = uint64_t{1} << 26;
constexpr uint16_t kZip64Extra = 1;

[[noreturn]] void fail_in(const InputFile& file, const std::string& why) {
  fail(ErrorKind::kFormat, "'{}' is not a valid zip file: {}", file.path(), why);
}

/// A little-endian number; the caller has checked that it lies inside `bytes`.
template <typename Number>
Number number_at(std::string_view bytes, size_t at) {
  HEED_CHECK(at + sizeof(Number) <= bytes.size());
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::string read_bytes(const InputFile& file, uint64_t begin, uint64_t count) {
  if (begin > file.size() || count > file.size() - begin) fail_in(file, "a record lies outside the file");
  std::string bytes(count, '\0');
  file.read_at(begin, bytes.data(), bytes.size());
  return bytes;
}

/// The central directory.
struct Directory {
  uint64_t begin = 0, size = 0, entries = 0;
};

Directory read_zip64_end(const InputFile& file, uint64_t locator_begin) {
  const std::string locator = read_bytes(file, locator_begin, kZip64LocatorBytes);
  if (number_at<uint32_t>(locator, 0) != kZip64Locator) fail_in(file, "its Zip64 locator is missing");
  const std::string end = read_bytes(file, number_at<uint64_t>(locator, 8), kZip64EndBytes);
  if (number_at<uint32_t>(end, 0) != kZip64End) fail_in(file, "its Zip64 end record is missing");
  return {number_at<uint64_t>(end, 48), number_at<uint64_t>(end, 40), number_at<uint64_t>(end, 32)};
}

/// The end record is the last of the file, followed by a comment whose length it contains.
Directory find_directory(const InputFile& file) {
  const uint64_t tail_size = std::min<uint64_t>(file.size(), kEndBytes + 0xFFFF);
  const uint64_t tail_begin = file.size() - tail_size;
  const std::string tail = read_bytes(file, tail_begin, tail_size);
  for (size_t at = tail.size() < kEndBytes ? 0 : tail.size() - kEndBytes + 1; at-- > 0;) {
    if (number_at<uint32_t>(tail, at) != kDirectoryEnd) continue;
    if (at + kEndBytes + number_at<uint16_t>(tail, at + 20) != tail.size()) continue;
    if (number_at<uint16_t>(tail, at + 4) != 0 || number_at<uint16_t>(tail, at + 6) != 0) {
      fail_in(file, "it is a part of a file that was split");
    }
    Directory directory{number_at<uint32_t>(tail, at + 16), number_at<uint32_t>(tail, at + 12),
                        number_at<uint16_t>(tail, at + 10)};
    const uint64_t end = tail_begin + at;
    if (directory.begin == 0xFFFFFFFF || directory.size == 0xFFFFFFFF || directory.entries == 0xFFFF) {
      if (end < kZip64LocatorBytes) fail_in(file, "its Zip64 locator is missing");
      directory = read_zip64_end(file, end - kZip64LocatorBytes);
    }
    if (directory.begin > end || directory.size > end - directory.begin) {
      fail_in(file, "its directory lies outside the file");
    }
    if (directory.size > kMaxDirectoryBytes) {
      fail_in(file, fmt::format("its directory has {} bytes, the maximum is {}", directory.size,
                                kMaxDirectoryBytes));
    }
    return directory;
  }
  fail_in(file,
          "the end of its directory is missing; the file is truncated or was not downloaded completely");
}

/// Names that stay in the folder where the file would be unpacked.
bool is_plain_path(std::string_view name) {
  const bool has_drive = name.size() > 1 && name[1] == ':';
  if (name.empty() || name.front() == '/' || has_drive ||
      name.find_first_of(std::string_view("\\\0", 2)) != name.npos) {
    return false;
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

/// Numbers that do not fit into their fields are in an extra field: those of them that are 0xFFFFFFFF, in
/// order.
void read_zip64_extra(std::string_view extra, std::initializer_list<uint64_t*> numbers) {
  while (extra.size() >= 4) {
    const auto kind = number_at<uint16_t>(extra, 0), size = number_at<uint16_t>(extra, 2);
    if (size > extra.size() - 4) return;
    if (kind == kZip64Extra) {
      size_t at = 4;
      for (uint64_t* number : numbers) {
        if (*number != 0xFFFFFFFF || at + 8 > size_t{4} + size) continue;
        *number = number_at<uint64_t>(extra, at);
        at += 8;
      }
      return;
    }
    extra.remove_prefix(size_t{4} + size);
  }
}

/// Replaces the position of an entry's local header by that of its data.
void find_data(const InputFile& file, uint64_t directory_begin, ZipEntry& entry) {
  const std::string local = read_bytes(file, entry.begin, kLocalHeaderBytes);
  if (number_at<uint32_t>(local, 0) != kLocalHeader) {
    fail_in(file, fmt::format("the entry '{}' has no header", shown(entry.name)));
  }
  const uint64_t name_size = number_at<uint16_t>(local, 26);
  if (read_bytes(file, entry.begin + kLocalHeaderBytes, name_size) != entry.name) {
    fail_in(file, fmt::format("the entry '{}' has another name in its header", shown(entry.name)));
  }
  entry.begin += kLocalHeaderBytes + name_size + number_at<uint16_t>(local, 28);
  if (entry.begin > directory_begin || entry.size > directory_begin - entry.begin) {
    fail_in(file, fmt::format("the data of the entry '{}' lie outside the file", shown(entry.name)));
  }
}

void require_no_overlap(const InputFile& file, const std::vector<ZipEntry>& entries) {
  std::vector<const ZipEntry*> ordered;
  for (const ZipEntry& entry : entries) {
    if (entry.size > 0) ordered.push_back(&entry);
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const ZipEntry* left, const ZipEntry* right) { return left->begin < right->begin; });
  for (size_t n = 1; n < ordered.size(); ++n) {
    if (ordered[n - 1]->begin + ordered[n - 1]->size <= ordered[n]->begin) continue;
    fail_in(file, fmt::format("the data of the entries '{}' and '{}' overlap", shown(ordered[n - 1]->name),
                              shown(ordered[n]->name)));
  }
}

}  // namespace

bool is_zip(const InputFile& file) {
  uint32_t signature = 0;
  if (file.size() < sizeof signature) return false;
  file.read_at(0, &signature, sizeof signature);
  return signature == kLocalHeader || signature == kDirectoryEnd;
}

std::vector<ZipEntry> read_zip_directory(const InputFile& file) {
  const Directory directory = find_directory(file);
  const std::string bytes = read_bytes(file, directory.begin, directory.size);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  size_t at = 0;
  for (uint64_t n = 0; n < directory.entries; ++n) {
    const std::string_view rest = std::string_view(bytes).substr(at);
    if (rest.size() < kEntryBytes || number_at<uint32_t>(rest, 0) != kDirectoryEntry) {
      fail_in(file, fmt::format("entry {} of its directory is damaged", n + 1));
    }
    const size_t name_size = number_at<uint16_t>(rest, 28), extra_size = number_at<uint16_t>(rest, 30),
                 comment_size = number_at<uint16_t>(rest, 32);
    if (rest.size() < kEntryBytes + name_size + extra_size + comment_size) {
      fail_in(file, fmt::format("entry {} of its directory is longer than the directory", n + 1));
    }
    ZipEntry entry{std::string(rest.substr(kEntryBytes, name_size)), number_at<uint32_t>(rest, 42),
                   number_at<uint32_t>(rest, 24), number_at<uint32_t>(rest, 16)};
    uint64_t stored_size = number_at<uint32_t>(rest, 20);
    read_zip64_extra(rest.substr(kEntryBytes + name_size, extra_size),
                     {&entry.size, &stored_size, &entry.begin});
    at += kEntryBytes + name_size + extra_size + comment_size;
    if (!is_plain_path(entry.name)) {
      fail_in(file,
              fmt::format("the name of the entry '{}' leaves the folder of the file", shown(entry.name)));
    }
    if (!names.insert(entry.name).second) {
      fail_in(file, fmt::format("it has two entries named '{}'", shown(entry.name)));
    }
    if ((number_at<uint16_t>(rest, 8) & 1) != 0) {
      fail_in(file, fmt::format("the entry '{}' is encrypted", shown(entry.name)));
    }
    if (number_at<uint16_t>(rest, 10) != 0 || stored_size != entry.size) {
      fail_in(file,
              fmt::format("the entry '{}' is compressed; torch.save and numpy.savez store their data, and "
                          "nothing else is supported",
                          shown(entry.name)));
    }
    find_data(file, directory.begin, entry);
    entries.push_back(std::move(entry));
  }
  require_no_overlap(file, entries);
  return entries;
}

void require_checksum(const InputFile& file, const ZipEntry& entry) {
  if (entry.checksum == 0) return;
  std::string bytes(std::min<uint64_t>(kReadChunkBytes, entry.size), '\0');
  uLong checksum = crc32(0, nullptr, 0);
  for (uint64_t done = 0; done < entry.size;) {
    const uint64_t count = std::min<uint64_t>(kReadChunkBytes, entry.size - done);
    file.read_at(entry.begin + done, bytes.data(), count);
    checksum = crc32(checksum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(count));
    done += count;
  }
  if (checksum == entry.checksum) return;
  fail(ErrorKind::kFormat,
       "'{}' is damaged: the data of '{}' do not match their checksum; copy or download the file again",
       file.path(), shown(entry.name));
}

CheckedZipEntries::CheckedZipEntries(std::vector<ZipEntry> entries)
    : entries_(std::move(entries)), match_(std::make_unique<std::atomic<bool>[]>(entries_.size())) {}

void CheckedZipEntries::require(const InputFile& file, size_t entry) const {
  if (match_[entry]) return;
  require_checksum(file, entries_[entry]);
  match_[entry] = true;
}

void CheckedZipEntries::require_all(const InputFile& file) const {
  for (size_t entry = 0; entry < entries_.size(); ++entry) require(file, entry);
}

bool CheckedZipEntries::have_checksums() const {
  return std::ranges::any_of(entries_, [](const ZipEntry& entry) { return entry.checksum != 0; });
}

}  // namespace heed
