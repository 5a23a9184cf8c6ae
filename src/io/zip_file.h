// The directory of a zip file whose entries are stored, not compressed, as torch.save and numpy.savez write
// them. The data of an entry are then a byte range of the file and can be read in place. Nothing is ever
// unpacked.
//
// The format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, including Zip64. The file is
// untrusted: the entries of an accepted file have distinct names that do not leave a folder, and their data
// lie inside the file without overlap.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files/input_file.h"

namespace heed {

struct ZipEntry {
  std::string name;
  uint64_t begin = 0, size = 0;  ///< of the data in the file
  uint32_t checksum = 0;         ///< CRC-32 of the data; 0: none (torch.save with compute_crc32=False)
};

/// Whether a file starts as zip files do.
bool is_zip(const InputFile& file);

/// All entries, in the order of the directory. Throws kFormat for a damaged, encrypted or compressed file.
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

/// Reads the data of an entry. Throws kFormat if they do not match the checksum.
void require_checksum(const InputFile& file, const ZipEntry& entry);

/// Entries whose data are read in parts, each of which is compared with its checksum before that, once;
/// thread-safe.
class CheckedZipEntries {
 public:
  CheckedZipEntries() = default;
  explicit CheckedZipEntries(std::vector<ZipEntry> entries);

  /// Throws kFormat if the data of an entry do not match its checksum.
  void require(const InputFile& file, size_t entry) const;
  void require_all(const InputFile& file) const;
  /// Whether there are checksums.
  bool have_checksums() const;
  size_t size() const { return entries_.size(); }

 private:
  std::vector<ZipEntry> entries_;
  std::unique_ptr<std::atomic<bool>[]> match_;  // by entry; false: not compared yet
};

}  // namespace heed
