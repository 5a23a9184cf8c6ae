// Test helper: writes zip files as numpy.savez and torch.save do.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// A zip file of entries that are not compressed. Without checksums they are zero, as with torch.save's
/// option compute_crc32=False.
class ZipWriter {
 public:
  explicit ZipWriter(bool with_checksums = true) : with_checksums_(with_checksums) {}
  void add(const std::string& name, std::string_view content) {
    const auto offset = static_cast<uint32_t>(bytes_.size());
    bytes_ += "PK\x03\x04";
    const std::string fields = common_fields(name, content);
    bytes_ += fields + name;
    bytes_ += content;
    directory_ += "PK\x01\x02";
    put(directory_, 20, 2);  // version
    directory_ += fields;
    for (const int zeros : {2, 2, 2, 4}) put(directory_, 0, zeros);  // comment, disk, attributes
    put(directory_, offset, 4);
    directory_ += name;
    ++entries_;
  }
  std::string finish() const {
    std::string end = "PK\x05\x06";
    put(end, 0, 4);
    put(end, entries_, 2);
    put(end, entries_, 2);
    put(end, directory_.size(), 4);
    put(end, bytes_.size(), 4);
    put(end, 0, 2);
    return bytes_ + directory_ + end;
  }

 private:
  static void put(std::string& to, uint64_t number, int bytes) {
    for (int n = 0; n < bytes; ++n) to.push_back(static_cast<char>(number >> 8 * n & 0xff));
  }
  std::string common_fields(const std::string& name, std::string_view content) const {
    const auto* data = reinterpret_cast<const Bytef*>(content.data());
    std::string fields;
    put(fields, 20, 2);                             // version
    for (int n = 0; n < 4; ++n) put(fields, 0, 2);  // flags, method, time, date
    put(fields, with_checksums_ ? crc32(0, data, static_cast<uInt>(content.size())) : 0, 4);
    put(fields, content.size(), 4);
    put(fields, content.size(), 4);
    put(fields, name.size(), 2);
    put(fields, 0, 2);  // extra field
    return fields;
  }

  bool with_checksums_;
  std::string bytes_, directory_;
  uint64_t entries_ = 0;
};

}  // namespace heed
