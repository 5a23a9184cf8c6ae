// The directory of a zip file whose entries are stored, not compressed, as torch.save and numpy.savez write
// them. The data of an entry are then a byte range of the file and can be read in place. Nothing is ever
// unpacked.
//
// The format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, including Zip64. The file is
// untrusted: the entries of an accepted file have distinct names that do not leave a folder, and their data
// lie inside the file without overlap. Checksums are not verified.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/input_file.h"

namespace heed {

struct ZipEntry {
  std::string name;
  uint64_t begin = 0, size = 0;  ///< of the data in the file
};

/// Whether a file starts as zip files do.
bool is_zip(const InputFile& file);

/// All entries, in the order of the directory. Throws kFormat for a damaged, encrypted or compressed file.
std::vector<ZipEntry> read_zip_directory(const InputFile& file);

}  // namespace heed
