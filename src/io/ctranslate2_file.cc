#include "io/ctranslate2_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/printable.h"
#include "base/text/utf8_length.h"

namespace heed {
namespace {

constexpr uint32_t kOldestVersion = 4, kNewestVersion = 6;
constexpr uint32_t kMaxVariables = 1 << 20;

struct VariableType {
  const char* name;  // as safetensors has it
  DType dtype;
  bool readable;
  uint64_t size;  // bytes of an element
};
/// By the number in the file.
constexpr VariableType kVariableTypes[] = {
    {"F32", DType::kFloat32, true, 4}, {"I8", DType::kInt8, true, 1},
    {"I16", DType::kInt32, false, 2},  {"I32", DType::kInt32, true, 4},
    {"F16", DType::kFloat16, true, 2}, {"BF16", DType::kBFloat16, true, 2}};

}  // namespace

class Ctranslate2File::Parser {
 public:
  explicit Parser(const InputFile& file) : file_(file) {}

  Content parse() {
    const auto version = number<uint32_t>();
    if (version < kOldestVersion || version > kNewestVersion) {
      refuse(
          fmt::format("its version is {}, supported are {} to {}; convert the original model again with a "
                      "current version of CTranslate2",
                      version, kOldestVersion, kNewestVersion));
    }
    Content content;
    content.specification = string();
    content.revision = number<uint32_t>();
    read_variables(content);
    read_aliases(content);
    if (at_ != file_.size()) refuse(fmt::format("{} bytes follow its end", file_.size() - at_));
    take_scales(content);
    return content;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kFormat, "'{}' is not a valid model of CTranslate2: {}", file_.path(), why);
  }
  void require(uint64_t bytes) const {
    if (bytes > file_.size() - at_) refuse("it ends too early; it is truncated or was not copied completely");
  }
  template <typename Number>
  Number number() {
    require(sizeof(Number));
    Number value;
    file_.read_at(at_, &value, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string string() {
    const auto length = number<uint16_t>();
    require(length);
    std::string text(length, '\0');
    file_.read_at(at_, text.data(), text.size());
    at_ += length;
    if (text.empty() || text.back() != '\0') refuse("a name does not end with 0");
    text.pop_back();
    if (!is_utf8(text) || text.find('\0') != std::string::npos) {
      refuse(fmt::format("the name '{}' is not valid", shown(text)));
    }
    return text;
  }

  void read_variables(Content& content) {
    const auto count = number<uint32_t>();
    if (count > kMaxVariables) refuse(fmt::format("it would have {} variables", count));
    for (uint32_t n = 0; n < count; ++n) {
      TensorInfo info;
      info.name = string();
      std::vector<int64_t> lengths(number<uint8_t>());
      if (lengths.size() > Shape::kMaxRank) {
        refuse(fmt::format("'{}' has {} axes, the maximum is {}", shown(info.name), lengths.size(),
                           Shape::kMaxRank));
      }
      for (int64_t& length : lengths) length = number<uint32_t>();
      const auto type = number<uint8_t>();
      if (type >= std::size(kVariableTypes))
        refuse(fmt::format("'{}' has the unknown type {}", shown(info.name), type));
      info.type = kVariableTypes[type].name;
      info.dtype = kVariableTypes[type].dtype;
      info.readable = kVariableTypes[type].readable;
      const auto bytes = number<uint32_t>();
      uint64_t size = kVariableTypes[type].size;
      bool overflow = false;
      for (const int64_t length : lengths) overflow |= __builtin_mul_overflow(size, length, &size);
      if (overflow || size != bytes) {
        refuse(
            fmt::format("'{}' has {} bytes, which is not the size of its elements", shown(info.name), bytes));
      }
      require(bytes);
      info.shape = Shape(lengths);
      info.begin = at_;
      info.end = at_ += bytes;
      add(content, info, {info.name, info.dtype, info.begin, {}});
    }
  }

  void read_aliases(Content& content) {
    const auto count = number<uint32_t>();
    if (count > kMaxVariables) refuse(fmt::format("it would have {} aliases", count));
    for (uint32_t n = 0; n < count; ++n) {
      const std::string alias = string(), name = string();
      const auto found = positions_.find(name);
      if (found == positions_.end())
        refuse(fmt::format("'{}' stands for '{}', which is missing", shown(alias), shown(name)));
      TensorInfo info = content.infos[found->second];
      Stored stored = content.stored[found->second];
      info.name = alias;
      add(content, info, std::move(stored));
    }
  }

  void add(Content& content, const TensorInfo& info, Stored stored) {
    if (!positions_.emplace(info.name, content.infos.size()).second) {
      refuse(fmt::format("it has two variables named '{}'", shown(info.name)));
    }
    content.infos.push_back(info);
    content.stored.push_back(std::move(stored));
  }

  /// Reads the scales of quantised matrices, and removes them from the list.
  void take_scales(Content& content) {
    Content result{std::move(content.specification), content.revision, {}, {}};
    for (size_t n = 0; n < content.infos.size(); ++n) {
      TensorInfo& info = content.infos[n];
      constexpr std::string_view kScale = "_scale";
      if (info.name.ends_with(kScale) &&
          positions_.count(info.name.substr(0, info.name.size() - kScale.size())) > 0) {
        continue;
      }
      Stored& stored = content.stored[n];
      const auto scale = positions_.find(stored.variable + std::string(kScale));
      if (scale != positions_.end()) {
        stored.scales = scales_of(info, content.infos[scale->second]);
        info.dtype = DType::kFloat32;
        info.readable = true;
      }
      result.infos.push_back(std::move(info));
      result.stored.push_back(std::move(stored));
    }
    content = std::move(result);
  }

  std::vector<float> scales_of(const TensorInfo& matrix, const TensorInfo& scale) const {
    const int64_t rows = matrix.type == "I8" && matrix.shape.rank() > 0 ? matrix.shape[0] : 1;
    if ((matrix.type != "I8" && matrix.type != "I16") || scale.type != "F32" || scale.shape.size() != rows) {
      refuse(fmt::format("'{}' is {} of shape {}, but its scale {} of shape {}", shown(matrix.name),
                         matrix.type, matrix.shape.to_string(), scale.type, scale.shape.to_string()));
    }
    std::vector<float> scales(static_cast<size_t>(rows));
    file_.read_at(scale.begin, scales.data(), scales.size() * sizeof(float));
    for (const float each : scales) {
      if (!std::isfinite(each) || each <= 0)
        refuse(fmt::format("a scale of '{}' is {}", shown(matrix.name), each));
    }
    return scales;
  }

  const InputFile& file_;
  uint64_t at_ = 0;
  std::unordered_map<std::string, size_t> positions_;
};

Ctranslate2File Ctranslate2File::open(const std::string& path) {
  InputFile file(path);
  Content content = Parser(file).parse();
  return Ctranslate2File(std::move(file), std::move(content));
}

Ctranslate2File::Ctranslate2File(InputFile file, Content content)
    : TensorReader(file.path(), std::move(content.infos)),
      file_(std::move(file)),
      specification_(std::move(content.specification)),
      revision_(content.revision),
      stored_(std::move(content.stored)) {}

const std::string& Ctranslate2File::variable(const std::string& name) const {
  return stored_[position_of(info(name))].variable;
}

std::optional<double> Ctranslate2File::number(const std::string& name) const {
  if (!has(name)) return {};
  const TensorInfo& tensor = info(name);
  if (tensor.shape.size() != 1) return {};
  if (tensor.type == "I16") {
    int16_t value = 0;
    file_.read_at(tensor.begin, &value, sizeof value);
    return value;
  }
  return read(name).to_vector<double>().at(0);
}

void Ctranslate2File::read_elements(size_t index, int64_t begin, int64_t count, void* destination) const {
  const TensorInfo& tensor = infos()[index];
  const Stored& stored = stored_[index];
  if (stored.scales.empty()) {
    const uint64_t element = size_of(tensor.dtype);
    file_.read_at(stored.begin + static_cast<uint64_t>(begin) * element, destination,
                  static_cast<size_t>(count) * element);
    file_.require_unchanged();
    return;
  }
  const auto convert = [&](auto example) {
    using Element = decltype(example);
    std::vector<Element> values(static_cast<size_t>(std::min<int64_t>(count, 1 << 16)));
    const int64_t width = tensor.shape.size() / static_cast<int64_t>(stored.scales.size());
    auto* to = static_cast<float*>(destination);
    for (int64_t done = 0; done < count;) {
      const int64_t some = std::min<int64_t>(count - done, static_cast<int64_t>(values.size()));
      file_.read_at(stored.begin + static_cast<uint64_t>(begin + done) * sizeof(Element), values.data(),
                    static_cast<size_t>(some) * sizeof(Element));
      for (int64_t n = 0; n < some; ++n) {
        to[done + n] = static_cast<float>(values[n]) / stored.scales[(begin + done + n) / width];
      }
      done += some;
    }
  };
  if (tensor.type == "I8") {
    convert(int8_t{});
  } else {
    convert(int16_t{});
  }
  file_.require_unchanged();
}

namespace {

template <typename Number>
void write_number(AtomicFile& file, Number number) {
  file.write(&number, sizeof number);
}

void write_string(AtomicFile& file, const std::string& text) {
  write_number(file, static_cast<uint16_t>(text.size() + 1));
  file.write(text.c_str(), text.size() + 1);
}

uint8_t number_of_type(DType dtype) {
  for (size_t n = 0; n < std::size(kVariableTypes); ++n) {
    if (kVariableTypes[n].readable && kVariableTypes[n].dtype == dtype) return static_cast<uint8_t>(n);
  }
  HEED_CHECK(false);
}

}  // namespace

void write_ctranslate2(const std::string& path, const Ctranslate2Variables& content) {
  constexpr uint8_t kInt16 = 2;
  AtomicFile file(path);
  write_number(file, kNewestVersion);
  write_string(file, content.specification);
  write_number(file, content.revision);
  write_number(file, static_cast<uint32_t>(content.variables.size()));
  for (const auto& [name, tensor] : content.variables) {
    const Tensor rows = tensor.is_contiguous() ? tensor : tensor.clone();
    const bool as_int16 = rows.dtype() == DType::kInt32 && !content.as_int32.contains(name);
    const uint64_t bytes =
        static_cast<uint64_t>(rows.size()) * (as_int16 ? sizeof(int16_t) : size_of(rows.dtype()));
    if (bytes > std::numeric_limits<uint32_t>::max()) {
      fail(ErrorKind::kUsage, "cannot write '{}': '{}' has {} bytes, and CTranslate2's maximum is 4 GiB",
           path, name, bytes);
    }
    write_string(file, name);
    write_number(file, static_cast<uint8_t>(rows.rank()));
    for (const int64_t length : rows.shape()) write_number(file, static_cast<uint32_t>(length));
    write_number(file, as_int16 ? kInt16 : number_of_type(rows.dtype()));
    write_number(file, static_cast<uint32_t>(bytes));
    if (!as_int16) {
      file.write(rows.bytes(), bytes);
      continue;
    }
    for (int64_t i = 0; i < rows.size(); ++i) {
      const int32_t number = rows.data<int32_t>()[i];
      HEED_CHECK(number >= INT16_MIN && number <= INT16_MAX);
      write_number(file, static_cast<int16_t>(number));
    }
  }
  write_number(file, static_cast<uint32_t>(content.aliases.size()));
  for (const auto& [alias, name] : content.aliases) {
    write_string(file, alias);
    write_string(file, name);
  }
  file.commit();
}

}  // namespace heed
