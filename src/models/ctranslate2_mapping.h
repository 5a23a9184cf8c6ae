// Common to the readers of CTranslate2's architectures: variables of model.bin under the names of Hugging
// Face's library, and checks that all variables are used.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/ctranslate2_file.h"

namespace heed::models {

/// Rows of a variable under another name, with rows of zeros after them; only zeros if `variable` is empty.
struct MappedRows {
  std::string name, variable;
  int64_t first = 0, rows = 0, zero_rows = 0;
  bool transposed = false;  ///< all rows of a matrix, as columns
};

/// The tensors of a file under other names.
std::unique_ptr<TensorReader> mapped_weights(Ctranslate2File file, std::vector<MappedRows> all);

/// Collects rows and settings of a file. Errors name the directory and what is not supported.
class Ctranslate2Mapper {
 public:
  Ctranslate2Mapper(const std::string& directory, const Ctranslate2File& file)
      : directory_(directory), file_(file) {}

  const std::vector<MappedRows>& rows() const { return rows_; }

 protected:
  [[noreturn]] void refuse(const std::string& why) const;

  /// A variable with one element. Without a fallback it has to be there.
  double setting(const std::string& name, std::optional<double> fallback = {});
  const Shape& shape_of(const std::string& variable) const;

  /// `count` rows of a variable from `first` on, or a share of them: part `part` of `parts` of equal size.
  void take_rows(const std::string& name, const std::string& variable, int64_t first, int64_t count);
  void take(const std::string& name, const std::string& variable, int part = 0, int parts = 1);
  void take_linear(const std::string& name, const std::string& variable, int part = 0, int parts = 1);
  void take_norm(const std::string& name, const std::string& variable);

  /// The name of an activation in config.json, by CTranslate2's number.
  std::string activation_name(double number) const;
  /// The pieces of NAME_vocabulary.json or vocabulary.json, which must have this many.
  std::vector<std::string> vocabulary_of(const std::string& name, int64_t rows) const;
  int64_t id_of(const std::vector<std::string>& pieces, const std::string& piece) const;
  /// Throws for a variable that was not needed, unless it is a setting that is off, or says which heads align
  /// words.
  void require_all_used() const;

  const std::string& directory_;
  const Ctranslate2File& file_;
  std::vector<MappedRows> rows_;
  std::set<std::string> used_;
};

}  // namespace heed::models
