// Common to the readers of CTranslate2's architectures: variables of model.bin under the names of Hugging
// Face's library, and checks that all variables are used.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "io/ctranslate2_file.h"
#include "models/formats/ctranslate2_rows.h"

namespace heed::models {

/// Rows of a variable under another name, with rows of zeros around them; only zeros if `variable` is empty.
struct MappedRows {
  std::string name, variable;
  int64_t first = 0, rows = 0;
  int64_t zeros_before = 0, zeros_after = 0;
  bool transposed = false;  ///< all rows of a matrix, as columns
};

/// The tensors of a file under other names.
std::unique_ptr<TensorReader> mapped_weights(Ctranslate2File file, std::vector<MappedRows> all);

/// A directory of CTranslate2 that is being read.
struct Ctranslate2Directory {
  const ModelInventory& files;
  const JsonObject& config;  ///< CTranslate2's own config.json
  const Ctranslate2File& weights;
};

/// Collects rows and settings of a file. Errors name the directory and what is not supported.
class Ctranslate2Mapper {
 public:
  explicit Ctranslate2Mapper(const Ctranslate2Directory& directory)
      : files_(directory.files), original_(directory.config), file_(directory.weights) {}

  const std::vector<MappedRows>& rows() const { return rows_; }

 protected:
  [[noreturn]] void refuse(const std::string& why) const;

  /// A variable with one element. Without a fallback it has to be there.
  double setting(const std::string& name, std::optional<double> fallback = {});
  const Shape& shape_of(const std::string& variable) const;

  /// The value of a setting of all layers of a stack, which has to be the same.
  double layer_setting(const std::string& stack, int64_t layers, const std::string& name,
                       std::optional<double> fallback = {});
  /// The number of layers of a stack, at least 1.
  int64_t layers_of(const std::string& stack) const;

  /// Takes the variables of these rows; those of tables may be followed by rows of zeros, so that they are
  /// as long as the parameters of `table`.
  void take(const std::vector<Ctranslate2Row>& rows, const nn::ParameterTable& table);

  /// The name of an activation in config.json, by CTranslate2's number.
  std::string activation_name(double number) const;
  /// The pieces of NAME_vocabulary.json or vocabulary.json, which must have this many.
  std::vector<std::string> vocabulary_of(const std::string& name, int64_t rows) const;
  bool has_bias(const std::string& layer) const { return file_.has(layer + "/bias"); }
  int64_t id_of(const std::vector<std::string>& pieces, const std::string& piece) const;
  /// Throws for a variable that was not needed, unless it is a setting that is off, or says which heads align
  /// words.
  void require_all_used() const;

  const ModelInventory& files_;
  const JsonObject& original_;
  const Ctranslate2File& file_;
  std::vector<MappedRows> rows_;
  std::set<std::string> used_;

 private:
  /// `count` rows of a variable from `first` on.
  void take_rows(const std::string& name, const std::string& variable, int64_t first, int64_t count);
  void take_stacked(const Ctranslate2Row& row, const Ctranslate2Suffix& suffix);
  void take_table(const Ctranslate2Row& row, const nn::ParameterTable& table);
};

}  // namespace heed::models
