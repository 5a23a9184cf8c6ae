#include "io/torch/torch_objects.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/text/ascii.h"
#include "base/text/printable.h"

namespace heed {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kOrderedDict = "collections\nOrderedDict";
constexpr std::string_view kRebuildTensor = "torch._utils\n_rebuild_tensor";
constexpr std::string_view kRebuildTensor2 = "torch._utils\n_rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils\n_rebuild_parameter";
constexpr std::string_view kSize = "torch\nSize";

constexpr int64_t kMaxElements = int64_t{1} << 48;  // more than any memory, also for an empty tensor

struct StorageType {
  std::string_view global;
  const char* type;  // as safetensors names it
  int element_size;
};
constexpr StorageType kStorageTypes[] = {
    {"torch\nDoubleStorage", "F64", 8}, {"torch\nFloatStorage", "F32", 4},
    {"torch\nHalfStorage", "F16", 2},   {"torch\nBFloat16Storage", "BF16", 2},
    {"torch\nLongStorage", "I64", 8},   {"torch\nIntStorage", "I32", 4},
    {"torch\nShortStorage", "I16", 2},  {"torch\nCharStorage", "I8", 1},
    {"torch\nByteStorage", "U8", 1},    {"torch\nBoolStorage", "BOOL", 1}};

const StorageType* storage_type(std::string_view global) {
  const auto* found = std::ranges::find(kStorageTypes, global, &StorageType::global);
  return found == std::end(kStorageTypes) ? nullptr : found;
}

std::string dotted(std::string_view global) {
  std::string text(global);
  std::replace(text.begin(), text.end(), '\n', '.');
  return shown(text);
}

/// "'neg', 'conj'": the keys of a dictionary that are strings.
std::string quoted_keys(const PickleValue& dict, const PickleValues& values) {
  std::vector<std::string> keys;
  for (size_t n = 0; n + 1 < dict.items.size(); n += 2) {
    const PickleValue& key = values[dict.items[n]];
    if (key.kind == Kind::kString) keys.push_back(fmt::format("'{}'", shown(key.text)));
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

/// The keys that torch.save writes are numbers.
bool is_plain_key(std::string_view key) {
  return !key.empty() && key.size() <= 64 &&
         std::ranges::all_of(key, [](char c) { return is_ascii_digit(c) || is_ascii_lower(c) || c == '_'; });
}

}  // namespace

void TorchCalls::require_known(std::string_view global) const {
  for (const std::string_view known :
       {kOrderedDict, kRebuildTensor, kRebuildTensor2, kRebuildParameter, kSize}) {
    if (global == known) return;
  }
  if (storage_type(global) != nullptr) return;
  if (global.starts_with("torch\n") && global.ends_with("Storage")) {
    fail(ErrorKind::kFormat, "{} contains tensors of the unsupported type {}", origin_, dotted(global));
  }
  fail(ErrorKind::kFormat,
       "{} refers to '{}', which is not needed for weights; opened in Python, such a file can run any "
       "program. Heed runs nothing and does not read it",
       origin_, dotted(global));
}

PickleValue TorchCalls::call(std::string_view global, const std::vector<uint32_t>& arguments,
                             const PickleValues& values) const {
  const auto refuse = [&]() {
    fail(ErrorKind::kFormat, "{} calls '{}' with arguments that torch.save does not write", origin_,
         dotted(global));
  };
  if (global == kOrderedDict && arguments.empty()) return {Kind::kOrderedDict};
  if (global == kSize && arguments.size() == 1 && values[arguments[0]].kind == Kind::kTuple) {
    return values[arguments[0]];
  }
  if (global == kRebuildParameter && arguments.size() == 3 && values[arguments[0]].kind == Kind::kTensor) {
    return values[arguments[0]];
  }
  // storage, offset, sizes, strides and, in the second version, requires_grad, hooks and metadata
  const bool second = global == kRebuildTensor2;
  if (global == kRebuildTensor || second) {
    const size_t count = arguments.size();
    if (second ? count != 6 && count != 7 : count != 4) refuse();
    constexpr Kind kKinds[] = {Kind::kStorage, Kind::kInteger, Kind::kTuple, Kind::kTuple};
    for (size_t n = 0; n < 4; ++n) {
      if (values[arguments[n]].kind != kKinds[n]) refuse();
    }
    if (count == 7) require_no_flags(values[arguments[6]], values);
    return {Kind::kTensor, 0, {}, {arguments.begin(), arguments.begin() + 4}};
  }
  refuse();
  HEED_CHECK(false);
}

/// The metadata of a tensor, which torch.save writes only for those that have some, such as {'neg': True}:
/// the numbers are the negatives of those in the storage.
void TorchCalls::require_no_flags(const PickleValue& metadata, const PickleValues& values) const {
  const bool is_dict = metadata.kind == Kind::kDict || metadata.kind == Kind::kOrderedDict;
  if (metadata.kind == Kind::kNone || (is_dict && metadata.items.empty())) return;
  fail(ErrorKind::kFormat,
       "{} has a tensor whose numbers are not those that are stored (metadata {}): save it as "
       "tensor.resolve_neg().resolve_conj()",
       origin_, is_dict ? quoted_keys(metadata, values) : "of an unknown kind");
}

/// ("storage", type, key, location, number of elements) and, in the legacy layout, a view, which is None.
PickleValue TorchCalls::load(const PickleValue& id, const PickleValues& values) const {
  const auto is = [&](size_t n, Kind kind) { return values[id.items[n]].kind == kind; };
  const bool fits = id.kind == Kind::kTuple && (id.items.size() == 5 || id.items.size() == 6) &&
                    is(0, Kind::kString) && values[id.items[0]].text == "storage" && is(1, Kind::kGlobal) &&
                    storage_type(values[id.items[1]].text) != nullptr && is(2, Kind::kString) &&
                    is(4, Kind::kInteger) && (id.items.size() == 5 || is(5, Kind::kNone));
  if (!fits) fail(ErrorKind::kFormat, "{} describes a storage as torch.save does not", origin_);
  const std::string_view key = values[id.items[2]].text;
  if (!is_plain_key(key)) {
    fail(ErrorKind::kFormat, "{}: the key of a storage is '{}', expected a number", origin_, shown(key));
  }
  if (values[id.items[4]].number < 0) {
    fail(ErrorKind::kFormat, "{}: the storage '{}' has {} elements", origin_, key,
         values[id.items[4]].number);
  }
  return {Kind::kStorage, 0, {}, id.items};
}

namespace {

class Reader {
 public:
  Reader(const Pickle& pickle, const std::string& origin) : values_(pickle.values), origin_(origin) {
    const PickleValue& root = values_[pickle.root];
    if (root.kind != Kind::kDict && root.kind != Kind::kOrderedDict) {
      fail(ErrorKind::kFormat, "{} is not a dictionary of tensors; save model.state_dict() with torch.save",
           origin_);
    }
    std::set<std::string_view> names;
    for (size_t n = 0; n + 1 < root.items.size(); n += 2) {
      const PickleValue& name = values_[root.items[n]];
      if (name.kind != Kind::kString) {
        fail(ErrorKind::kFormat, "{}: the name of a tensor is not a string", origin_);
      }
      if (!names.insert(name.text).second) {
        fail(ErrorKind::kFormat, "{} has two tensors named '{}'", origin_, shown(name.text));
      }
      add_view(name.text, values_[root.items[n + 1]]);
    }
  }
  TorchTensors take() { return std::move(tensors_); }

 private:
  [[noreturn]] void refuse(std::string_view name, const std::string& why) const {
    fail(ErrorKind::kFormat, "{}: the tensor '{}' {}", origin_, shown(name), why);
  }

  void add_view(std::string_view name, const PickleValue& value) {
    if (value.kind != Kind::kTensor) {
      fail(ErrorKind::kFormat,
           "{}: '{}' is not a tensor; a file with more than tensors is a training checkpoint: save its "
           "model.state_dict() with torch.save",
           origin_, shown(name));
    }
    const std::vector<uint32_t>& sizes = values_[value.items[2]].items;
    const std::vector<uint32_t>& strides = values_[value.items[3]].items;
    if (sizes.size() != strides.size()) {
      refuse(name, fmt::format("has {} sizes, but {} strides", sizes.size(), strides.size()));
    }
    if (sizes.size() > Shape::kMaxRank) {
      refuse(name, fmt::format("has {} axes, the maximum is {}", sizes.size(), Shape::kMaxRank));
    }
    const std::vector<int64_t> lengths = numbers_in(name, sizes);
    TorchView view{std::string(name),
                   storage_of(values_[value.items[0]]),
                   values_[value.items[1]].number,
                   {},
                   numbers_in(name, strides)};
    require_inside(view, lengths);
    view.shape = Shape(lengths);
    tensors_.views.push_back(std::move(view));
  }

  std::vector<int64_t> numbers_in(std::string_view name, const std::vector<uint32_t>& items) const {
    std::vector<int64_t> numbers;
    for (const uint32_t item : items) {
      if (values_[item].kind != Kind::kInteger) refuse(name, "has a size or stride that is not an integer");
      if (values_[item].number < 0) {
        refuse(name, fmt::format("has the negative size or stride {}", values_[item].number));
      }
      numbers.push_back(values_[item].number);
    }
    return numbers;
  }

  size_t storage_of(const PickleValue& value) {
    const StorageType* type = storage_type(values_[value.items[1]].text);
    const std::string_view key = values_[value.items[2]].text;
    const auto size = static_cast<uint64_t>(values_[value.items[4]].number);
    const auto [found, is_new] = storages_.emplace(key, tensors_.storages.size());
    if (is_new) {
      if (size > (uint64_t{1} << 60) / static_cast<uint64_t>(type->element_size)) {
        fail(ErrorKind::kFormat, "{}: the storage '{}' would have {} elements", origin_, key, size);
      }
      tensors_.storages.push_back({std::string(key), type->type, size, type->element_size});
    }
    const TorchStorage& storage = tensors_.storages[found->second];
    if (storage.type != type->type || storage.size != size) {
      fail(ErrorKind::kFormat, "{}: the storage '{}' is described twice, differently", origin_, key);
    }
    return found->second;
  }

  /// Throws unless all elements lie in the storage and the tensor has no more of them than the storage.
  void require_inside(const TorchView& view, const std::vector<int64_t>& lengths) const {
    const auto size = static_cast<int64_t>(tensors_.storages[view.storage].size);
    int64_t count = 1, last = view.offset;
    bool overflow = view.offset < 0, empty = false;
    for (size_t axis = 0; axis < lengths.size(); ++axis) {
      empty |= lengths[axis] == 0;
      int64_t step = 0;
      overflow |= __builtin_mul_overflow(std::max<int64_t>(lengths[axis], 1) - 1, view.strides[axis], &step);
      overflow |= __builtin_add_overflow(last, step, &last);
      overflow |= __builtin_mul_overflow(count, std::max<int64_t>(lengths[axis], 1), &count);
    }
    if (overflow || count > kMaxElements || (last >= size && !empty)) {
      refuse(view.name, fmt::format("lies outside its storage of {} elements", size));
    }
    if (count > size && !empty) {
      refuse(view.name, fmt::format("repeats the elements of a storage of {} to {}, which no weights need",
                                    size, count));
    }
  }

  const PickleValues& values_;
  const std::string& origin_;
  std::map<std::string_view, size_t> storages_;
  TorchTensors tensors_;
};

}  // namespace

TorchTensors torch_tensors(const Pickle& pickle, const std::string& origin) {
  return Reader(pickle, origin).take();
}

}  // namespace heed
