// Arrays of NumPy in one file, .npz: a zip file, not compressed, with an entry NAME.npy for each array.
// Marian stores its models so.
//
// An entry is the magic number "\x93NUMPY", the version (two bytes), the length of the header (u16, from
// version 2 on u32), the header, a dictionary of Python such as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (512, 2048), }
// and the elements. The file is untrusted: types, shapes and sizes are checked before memory is allocated,
// and an entry is compared with its checksum before its elements are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/input_file.h"
#include "io/tensor_reader.h"
#include "io/zip_file.h"

namespace heed {

class NpzFile final : public TensorReader {
 public:
  /// Reads everything but the elements. Arrays of unsupported types can be listed but not read. Throws
  /// kNotFound, kFile or kFormat.
  static NpzFile open(const std::string& path);

  bool has_hashes() const override { return entries_.have_checksums(); }
  void verify() const override;

 protected:
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override;

 private:
  NpzFile(InputFile file, std::vector<TensorInfo> infos, CheckedZipEntries entries);

  InputFile file_;             // the ranges of infos() are in the file
  CheckedZipEntries entries_;  // one for each of infos()
};

}  // namespace heed
