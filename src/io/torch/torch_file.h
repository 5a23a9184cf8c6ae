// PyTorch's weights, pytorch_model.bin: a pickle that describes tensors, and their data. The file is
// untrusted, and nothing in it is executed (pickle_reader.h).
//
// Two layouts, told apart by the first bytes:
// - torch 1.6 (2020) and later: a zip file with NAME/data.pkl and, for each storage, its elements in
//   NAME/data/KEY;
// - before, or with _use_new_zipfile_serialization=False: five pickles (a magic number, the protocol, a
//   description of the machine, the tensors, the keys of all storages), then for each key the number of
//   elements and the elements.
// A tensor is a view of a storage, with an offset and strides; several tensors may share one. A zip file has
// checksums, which torch.load ignores: a storage is compared with its own before it is read.
#pragma once

#include <string>

#include "base/files/input_file.h"
#include "io/tensor_reader.h"
#include "io/torch/torch_objects.h"
#include "io/zip_file.h"

namespace heed {

class TorchFile final : public TensorReader {
 public:
  /// Reads everything but the elements. Throws kNotFound, kFile or kFormat.
  static TorchFile open(const std::string& path);

  bool has_hashes() const override { return entries_.have_checksums(); }
  void verify() const override;

 protected:
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override;
  bool reads_parts(size_t index) const override;

 private:
  TorchFile(InputFile file, TorchTensors tensors, CheckedZipEntries entries);

  InputFile file_;
  TorchTensors tensors_;
  CheckedZipEntries entries_;  // one for each storage; none in the legacy layout
};

}  // namespace heed
