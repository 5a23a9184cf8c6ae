#include "io/safetensors/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/text/json_text.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr char kMetadataKey[] = "__metadata__";

/// Types of the format. Of two entries with the same DType, the first is used for writing.
struct FileType {
  const char* name;
  uint64_t width;              // bytes of an element
  std::optional<DType> dtype;  // empty: unsupported
};
constexpr FileType kFileTypes[] = {
    {"F64", 8, DType::kFloat64},
    {"F32", 4, DType::kFloat32},
    {"F16", 2, DType::kFloat16},
    {"BF16", 2, DType::kBFloat16},
    {"I64", 8, DType::kInt64},
    {"I32", 4, DType::kInt32},
    {"U8", 1, DType::kUInt8},
    {"I8", 1, DType::kInt8},
    {"BOOL", 1, DType::kUInt8},
    {"U64", 8, {}},
    {"U32", 4, {}},
    {"I16", 2, {}},
    {"U16", 2, {}},
    {"C64", 8, {}},
    {"F8_E5M2", 1, {}},
    {"F8_E4M3", 1, {}},
    {"F8_E8M0", 1, {}},
};

/// SAX parser, so that a hostile header is never held as a tree in memory.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(size_t) override {
    if (state_ == State::kStart) {
      state_ = State::kRoot;
    } else if (state_ == State::kRoot) {
      state_ = in_metadata_ ? State::kMetadata : State::kEntry;
    } else {
      wrong_type("an object");
    }
    return true;
  }

  bool key(std::string& name) override {
    if (state_ == State::kRoot) {
      if (!names_.insert(name).second) reject("'{}' appears twice", shown(name));
      in_metadata_ = name == kMetadataKey;
      entry_ = {};
      entry_.name = name;
      shape_.reset();
      offsets_.reset();
    } else if (state_ == State::kMetadata) {
      if (header_.metadata.count(name) > 0) reject("'{}' appears twice in its metadata", shown(name));
      field_ = name;
    } else {
      if (name != "dtype" && name != "shape" && name != "data_offsets") {
        reject("tensor '{}' has an unknown field '{}'", shown(entry_.name), shown(name));
      }
      const bool repeated = (name == "dtype" && !entry_.type.empty()) || (name == "shape" && shape_) ||
                            (name == "data_offsets" && offsets_);
      if (repeated) reject("tensor '{}' has a duplicate {}", shown(entry_.name), name);
      field_ = name;
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::kEntry) end_entry();
    state_ = state_ == State::kRoot ? State::kStart : State::kRoot;
    return true;
  }

  bool start_array(size_t) override {
    if (state_ != State::kEntry || field_ == "dtype") wrong_type("an array");
    (field_ == "shape" ? shape_ : offsets_).emplace();
    state_ = State::kNumbers;
    return true;
  }

  bool end_array() override {
    state_ = State::kEntry;
    return true;
  }

  bool string(std::string& value) override {
    if (state_ == State::kMetadata) {
      header_.metadata.emplace(field_, value);
    } else if (state_ == State::kEntry && field_ == "dtype") {
      if (value.empty()) reject("tensor '{}' has an empty dtype", shown(entry_.name));
      entry_.type = value;
    } else {
      wrong_type("a string");
    }
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    if (state_ != State::kNumbers) wrong_type("a number");
    std::vector<uint64_t>& numbers = field_ == "shape" ? *shape_ : *offsets_;
    if (field_ == "shape" && numbers.size() == Shape::kMaxRank) {
      reject("tensor '{}' has more than {} axes", shown(entry_.name), Shape::kMaxRank);
    }
    if (field_ == "data_offsets" && numbers.size() == 2) wrong_offsets();
    numbers.push_back(value);
    return true;
  }

  bool number_integer(int64_t) override { return wrong_type("a negative number"); }
  bool number_float(double, const std::string&) override {
    return wrong_type("a fraction or a number that is too large");
  }
  bool null() override { return wrong_type("null"); }
  bool boolean(bool) override { return wrong_type("a boolean"); }
  bool binary(Json::binary_t&) override { return wrong_type("binary data"); }

  bool parse_error(size_t position, const std::string&, const Json::exception& error) override {
    reject("its header is not valid JSON: {}", internal::describe_json_error(text_, position, error.what()));
  }

 private:
  enum class State { kStart, kRoot, kMetadata, kEntry, kNumbers };

  template <typename... Arguments>
  [[noreturn]] void reject(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    fail(ErrorKind::kFormat, "'{}' is not a valid safetensors file: {}", path_,
         fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  [[noreturn]] bool wrong_type(const char* found) const {
    switch (state_) {
      case State::kStart:
        reject("its header is {}, expected an object", found);
      case State::kRoot:
        reject("'{}' is {}, expected an object", shown(entry_.name), found);
      case State::kMetadata:
        reject("'{}' in its metadata is {}, expected a string", shown(field_), found);
      case State::kEntry:
        reject("the {} of tensor '{}' is {}, expected {}", field_, shown(entry_.name), found,
               field_ == "dtype" ? "a string" : "a list of integers");
      case State::kNumbers:
        reject("the {} of tensor '{}' contains {}, expected integers", field_, shown(entry_.name), found);
    }
    HEED_CHECK(false);
  }

  [[noreturn]] void wrong_offsets() const {
    reject("the data_offsets of tensor '{}' must be two numbers, begin and end", shown(entry_.name));
  }

  void end_entry() {
    const std::string name = shown(entry_.name);
    if (entry_.type.empty() || !shape_ || !offsets_) {
      reject("tensor '{}' has no {}", name,
             entry_.type.empty() ? "dtype"
             : !shape_           ? "shape"
                                 : "data_offsets");
    }
    if (offsets_->size() != 2) wrong_offsets();
    entry_.begin = (*offsets_)[0];
    entry_.end = (*offsets_)[1];
    if (entry_.begin > entry_.end) {
      reject("the data_offsets of tensor '{}' are {} to {}, the end before the beginning", name, entry_.begin,
             entry_.end);
    }
    const auto* type = std::find_if(std::begin(kFileTypes), std::end(kFileTypes),
                                    [&](const FileType& each) { return each.name == entry_.type; });
    const bool known = type != std::end(kFileTypes);
    entry_.readable = known && type->dtype.has_value();
    if (entry_.readable) entry_.dtype = *type->dtype;
    const uint64_t size = checked_size(name, known ? type->width : 1);
    if (known && size != entry_.end - entry_.begin) {
      reject("tensor '{}' of type {} and shape {} needs {} bytes but has {}", name, entry_.type,
             entry_.shape.to_string(), size, entry_.end - entry_.begin);
    }
    header_.tensors.push_back(std::move(entry_));
  }

  /// Sets the shape of the current tensor and returns its size in bytes. Checks the limit of Shape before
  /// each multiplication, so that nothing overflows, even if another axis is empty.
  uint64_t checked_size(const std::string& name, uint64_t width) {
    constexpr uint64_t kMostElements = INT64_MAX / 8;
    uint64_t elements = 1;
    std::vector<int64_t> lengths;
    for (const uint64_t length : *shape_) {
      if (length > kMostElements / elements) reject("the shape of tensor '{}' is too large", name);
      if (length > 0) elements *= length;
      lengths.push_back(static_cast<int64_t>(length));
    }
    entry_.shape = Shape(lengths);
    return static_cast<uint64_t>(entry_.shape.size()) * width;
  }

  std::string_view text_;
  const std::string& path_;
  SafetensorsHeader header_;
  std::unordered_set<std::string> names_;
  State state_ = State::kStart;
  bool in_metadata_ = false;
  std::string field_;  // the last key inside an entry or the metadata
  TensorInfo entry_;
  std::optional<std::vector<uint64_t>> shape_, offsets_;
};

/// Throws unless the tensors, in order, cover the data without gaps or overlap.
void check_coverage(const std::vector<TensorInfo>& tensors, uint64_t data_size, const std::string& path) {
  uint64_t covered = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != covered) {
      fail(ErrorKind::kFormat,
           "'{}' is not a valid safetensors file: {} the data of tensor '{}', which begins at {}", path,
           tensor.begin < covered ? fmt::format("another tensor, which ends at byte {}, overlaps", covered)
                                  : fmt::format("a gap from byte {} precedes", covered),
           shown(tensor.name), tensor.begin);
    }
    covered = tensor.end;
  }
  if (covered > data_size) {
    fail(ErrorKind::kFormat,
         "'{}' is not whole: its header lists {} bytes of data, of which it has {}, as after a download or "
         "copy "
         "that broke off; download or copy it again",
         path, covered, data_size);
  }
  if (covered < data_size) {
    fail(ErrorKind::kFormat,
         "'{}' is not a valid safetensors file: its tensors end at byte {} of {} bytes of data", path,
         covered, data_size);
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_size,
                                           const std::string& path) {
  if (text.empty() || text.front() != '{') {
    fail(ErrorKind::kFormat, "'{}' is not a valid safetensors file: its header does not begin with '{{'",
         path);
  }
  HeaderReader reader(text, path);
  Json::sax_parse(text.begin(), text.end(), &reader);
  SafetensorsHeader header = reader.take();
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorInfo& left, const TensorInfo& right) {
              return std::tie(left.begin, left.end, left.name) < std::tie(right.begin, right.end, right.name);
            });
  check_coverage(header.tensors, data_size, path);
  return header;
}

std::string format_safetensors_header(const SafetensorsHeader& header, const std::string& path) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) root[kMetadataKey] = header.metadata;
  for (const TensorInfo& tensor : header.tensors) {
    nlohmann::ordered_json entry = nlohmann::ordered_json::object();
    entry["dtype"] = tensor.type;
    entry["shape"] = std::vector<int64_t>(tensor.shape.begin(), tensor.shape.end());
    entry["data_offsets"] = {tensor.begin, tensor.end};
    // emplace_back, since operator[] would search for the name: quadratic time.
    root.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(tensor.name, std::move(entry));
  }
  std::string text;
  try {
    text = root.dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kText, "cannot write '{}': the name of a tensor, or its metadata, is not valid UTF-8",
         path);
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

const char* safetensors_type_of(DType dtype) {
  for (const FileType& type : kFileTypes) {
    if (type.dtype == dtype) return type.name;
  }
  HEED_CHECK(false);
}

std::optional<DType> dtype_of_safetensors_type(std::string_view type) {
  for (const FileType& each : kFileTypes) {
    if (each.name == type) return each.dtype;
  }
  return {};
}

}  // namespace heed
