// model.bin of CTranslate2: named variables, the weights and settings of a model. The file is untrusted; all
// sizes are checked before memory is allocated.
//
// The layout, little-endian: version (u32); name of the kind of model, as a string (u16 length with the final
// 0, characters, 0); its revision (u32); number of variables (u32); for each its name, rank (u8), dimensions
// (u32), type (u8), number of bytes (u32) and data; number of aliases (u32); for each two names, the alias
// and the variable.
//
// A quantised matrix X (int8 with one scale per row, int16 with one scale) is read as float32, X / X_scale.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files/input_file.h"
#include "io/tensor_reader.h"

namespace heed {

class Ctranslate2File final : public TensorReader {
 public:
  /// Reads everything but the weights. Throws kNotFound, kFile or kFormat.
  static Ctranslate2File open(const std::string& path);

  /// The kind of model, such as "TransformerSpec", and the revision of its description.
  const std::string& specification() const { return specification_; }
  uint32_t revision() const { return revision_; }
  /// The variable that a name stands for: itself, unless it is an alias. Throws kNotFound.
  const std::string& variable(const std::string& name) const;
  /// The value of a variable with one element; empty if it is missing or has several.
  std::optional<double> number(const std::string& name) const;

 protected:
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override;

 private:
  /// What is stored for a variable.
  struct Stored {
    std::string variable;  // another name for an alias
    DType dtype = DType::kFloat32;
    uint64_t begin = 0;         // in the file
    std::vector<float> scales;  // of a quantised matrix: of each row, or one
  };
  struct Content {
    std::string specification;
    uint32_t revision = 0;
    std::vector<TensorInfo> infos;
    std::vector<Stored> stored;
  };
  class Parser;
  Ctranslate2File(InputFile file, Content content);

  InputFile file_;
  std::string specification_;
  uint32_t revision_ = 0;
  std::vector<Stored> stored_;
};

/// What write_ctranslate2() writes.
struct Ctranslate2Variables {
  std::string specification = "TransformerSpec";
  uint32_t revision = 7;
  /// Floats, kInt8, or kInt32, which is written as int16 unless `as_int32` has the name.
  std::vector<std::pair<std::string, Tensor>> variables;
  std::set<std::string> as_int32;
  std::vector<std::pair<std::string, std::string>> aliases;  ///< alias, variable
};

/// Writes a file as CTranslate2 4 does. Throws kFile, or kUsage for a tensor of 4
/// GiB or more.
void write_ctranslate2(const std::string& path, const Ctranslate2Variables& content);

}  // namespace heed
