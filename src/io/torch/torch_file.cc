#include "io/torch/torch_file.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "io/safetensors/safetensors_header.h"

namespace heed {
namespace {

using Kind = PickleValue::Kind;

constexpr uint64_t kMaxPickleBytes = uint64_t{1} << 26;  // 100,000 tensors take some 20 MB
/// The first value of the legacy layout: 0x1950a86a20f9469cfc6c as a pickle has it.
constexpr std::string_view kLegacyMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
constexpr int64_t kLegacyProtocol = 1001;

Pickle read_whole_pickle(std::string_view bytes, const std::string& origin) {
  Pickle pickle = read_pickle(bytes, origin, TorchCalls(origin));
  if (pickle.truncated) fail(ErrorKind::kFormat, "{} ends too early", origin);
  return pickle;
}

// ---- Zip -------------------------------------------------------------------------------------------------

std::string bytes_of(const InputFile& file, const ZipEntry& entry, uint64_t limit) {
  if (entry.size > limit) {
    fail(ErrorKind::kFormat, "'{}' of '{}' has {} bytes, the maximum is {}", shown(entry.name), file.path(),
         entry.size, limit);
  }
  require_checksum(file, entry);
  std::string bytes(entry.size, '\0');
  file.read_at(entry.begin, bytes.data(), bytes.size());
  return bytes;
}

using EntryMap = std::unordered_map<std::string, ZipEntry>;

const ZipEntry* find(const EntryMap& entries, const std::string& name) {
  const auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

/// The folder in which all entries are: that of the only data.pkl.
std::string prefix_of(const InputFile& file, const EntryMap& entries) {
  constexpr std::string_view kPickle = "/data.pkl";
  std::optional<std::string> prefix;
  for (const auto& [name, entry] : entries) {
    if (!name.ends_with(kPickle)) continue;
    if (prefix) {
      fail(ErrorKind::kFormat, "'{}' contains data.pkl in two folders, '{}' and '{}'", file.path(),
           shown(*prefix), shown(name));
    }
    prefix = name.substr(0, name.size() - kPickle.size() + 1);
  }
  if (!prefix) {
    fail(ErrorKind::kFormat, "'{}' is a zip file, but not one of torch.save: it contains no data.pkl",
         file.path());
  }
  if (find(entries, *prefix + "constants.pkl") != nullptr) {
    fail(ErrorKind::kFormat,
         "'{}' is a TorchScript program, not weights; save model.state_dict() with torch.save", file.path());
  }
  return *prefix;
}

struct ZipLayout {
  TorchTensors tensors;
  std::vector<ZipEntry> storages;  ///< in the order of tensors.storages
};

ZipLayout read_zip_layout(const InputFile& file) {
  EntryMap entries;
  for (ZipEntry& entry : read_zip_directory(file)) entries.emplace(entry.name, entry);
  const std::string prefix = prefix_of(file, entries);
  if (const ZipEntry* order = find(entries, prefix + "byteorder");
      order != nullptr && bytes_of(file, *order, 16) != "little") {
    fail(ErrorKind::kFormat, "the numbers of '{}' are not little-endian; save it again on another machine",
         file.path());
  }
  const std::string bytes = bytes_of(file, *find(entries, prefix + "data.pkl"), kMaxPickleBytes);
  const std::string origin = fmt::format("data.pkl of '{}'", file.path());
  const Pickle pickle = read_whole_pickle(bytes, origin);
  if (pickle.end != bytes.size()) {
    fail(ErrorKind::kFormat, "{}: {} bytes follow its end", origin, bytes.size() - pickle.end);
  }
  ZipLayout layout{torch_tensors(pickle, origin), {}};
  for (TorchStorage& storage : layout.tensors.storages) {
    const ZipEntry* entry = find(entries, prefix + "data/" + storage.key);
    if (entry == nullptr) {
      fail(ErrorKind::kFormat, "'{}' lacks the entry {}data/{}, the data of a storage", file.path(),
           shown(prefix), storage.key);
    }
    if (entry->size != storage.size * static_cast<uint64_t>(storage.element_size)) {
      fail(ErrorKind::kFormat, "'{}': the entry '{}' has {} bytes, expected {} elements of {} bytes",
           file.path(), shown(entry->name), entry->size, storage.size, storage.element_size);
    }
    storage.begin = entry->begin;
    layout.storages.push_back(*entry);
  }
  return layout;
}

// ---- Legacy ----------------------------------------------------------------------------------------------

/// Reads consecutive pickles from the beginning of a file. The pickles must fit into a limit; what is read of
/// the file grows as needed.
class LegacyReader {
 public:
  explicit LegacyReader(const InputFile& file) : file_(file), origin_(fmt::format("'{}'", file.path())) {}

  TorchTensors read() {
    require_header();
    TorchTensors tensors = torch_tensors(next(), origin_);
    std::unordered_map<std::string, TorchStorage*> storages;
    for (TorchStorage& storage : tensors.storages) storages.emplace(storage.key, &storage);
    const std::vector<std::string> keys = read_keys();
    uint64_t at = at_;
    for (const std::string& key : keys) {
      const auto found = storages.find(key);
      if (found == storages.end()) {
        fail(ErrorKind::kFormat, "{} contains the storage '{}', which no tensor uses", origin_, shown(key));
      }
      TorchStorage* storage = found->second;
      int64_t size = 0;
      if (sizeof size > file_.size() - at) fail_truncated();
      file_.read_at(at, &size, sizeof size);
      at += sizeof size;
      if (storage->found || size < 0 || static_cast<uint64_t>(size) != storage->size) {
        fail(ErrorKind::kFormat, "{}: the storage '{}' has {} elements, expected {}, once", origin_, key,
             size, storage->size);
      }
      const uint64_t bytes = storage->size * static_cast<uint64_t>(storage->element_size);
      if (bytes > file_.size() - at) fail_truncated();
      storage->begin = at;
      storage->found = true;
      at += bytes;
    }
    for (const TorchStorage& storage : tensors.storages) {
      if (!storage.found) fail(ErrorKind::kFormat, "{} lacks the storage '{}'", origin_, storage.key);
    }
    return tensors;
  }

 private:
  [[noreturn]] void fail_truncated() const {
    fail(ErrorKind::kFormat, "{} ends too early; it is truncated or was not downloaded completely", origin_);
  }

  /// The next pickle; its texts are valid until the following call.
  Pickle next() {
    while (true) {
      Pickle pickle = read_pickle(std::string_view(bytes_).substr(at_), origin_, TorchCalls(origin_));
      if (!pickle.truncated) {
        at_ += pickle.end;
        return pickle;
      }
      const uint64_t limit = std::min(file_.size(), kMaxPickleBytes);
      if (bytes_.size() >= limit) {
        if (limit == file_.size()) fail_truncated();
        fail(ErrorKind::kFormat, "{}: its pickles have more than {} bytes", origin_, limit);
      }
      const size_t before = bytes_.size();
      bytes_.resize(std::min<uint64_t>(limit, std::max<uint64_t>(4 * before, uint64_t{1} << 16)));
      file_.read_at(before, bytes_.data() + before, bytes_.size() - before);
    }
  }

  void require_header() {
    const Pickle magic = next();
    const PickleValue& number = magic.values[magic.root];
    if (number.kind != Kind::kLargeInteger || number.text != kLegacyMagic) {
      fail(ErrorKind::kFormat, "{} is a pickle, but not one of torch.save: the magic number differs",
           origin_);
    }
    const Pickle protocol = next();
    if (protocol.values[protocol.root].kind != Kind::kInteger ||
        protocol.values[protocol.root].number != kLegacyProtocol) {
      fail(ErrorKind::kFormat, "{} has an unknown version of the format", origin_);
    }
    const Pickle machine = next();
    const PickleValue& facts = machine.values[machine.root];
    for (size_t n = 0; n + 1 < facts.items.size(); n += 2) {
      if (machine.values[facts.items[n]].text == "little_endian" &&
          machine.values[facts.items[n + 1]].number == 0) {
        fail(ErrorKind::kFormat, "the numbers of {} are not little-endian; save it again on another machine",
             origin_);
      }
    }
  }

  std::vector<std::string> read_keys() {
    const Pickle pickle = next();
    std::vector<std::string> keys;
    const PickleValue& list = pickle.values[pickle.root];
    if (list.kind != Kind::kList) fail(ErrorKind::kFormat, "{} lacks the list of its storages", origin_);
    for (const uint32_t item : list.items) {
      if (pickle.values[item].kind != Kind::kString) {
        fail(ErrorKind::kFormat, "{}: the key of a storage is not a string", origin_);
      }
      keys.emplace_back(pickle.values[item].text);
    }
    return keys;
  }

  const InputFile& file_;
  std::string origin_;
  std::string bytes_;  // the beginning of the file
  size_t at_ = 0;      // of the next pickle
};

// ---- Views -----------------------------------------------------------------------------------------------

/// Whether the elements of a view are contiguous in row-major order.
bool is_row_major(const TorchView& view) {
  int64_t expected = 1;
  for (int axis = view.shape.rank(); axis-- > 0;) {
    if (view.shape[axis] != 1 && view.strides[static_cast<size_t>(axis)] != expected) return false;
    expected *= view.shape[axis];
  }
  return true;
}

/// Positions, from the first element of a view, of its elements in row-major order, starting with `element`.
class Positions {
 public:
  Positions(const TorchView& view, int64_t element) : view_(view), index_(view.strides.size()) {
    for (int axis = view.shape.rank(); axis-- > 0;) {
      const auto n = static_cast<size_t>(axis);
      index_[n] = element % view.shape[axis];
      element /= view.shape[axis];
      position_ += index_[n] * view.strides[n];
    }
  }
  int64_t position() const { return position_; }
  void advance() {
    for (int axis = view_.shape.rank(); axis-- > 0;) {
      const auto n = static_cast<size_t>(axis);
      position_ += view_.strides[n];
      if (++index_[n] < view_.shape[axis]) return;
      position_ -= index_[n] * view_.strides[n];
      index_[n] = 0;
    }
  }

 private:
  const TorchView& view_;
  std::vector<int64_t> index_;
  int64_t position_ = 0;
};

std::vector<TensorInfo> infos_of(const TorchTensors& tensors) {
  std::vector<TensorInfo> infos;
  for (const TorchView& view : tensors.views) {
    const TorchStorage& storage = tensors.storages[view.storage];
    TensorInfo info;
    info.name = view.name;
    info.type = storage.type;
    const std::optional<DType> dtype = dtype_of_safetensors_type(storage.type);
    info.readable = dtype.has_value();
    info.dtype = dtype.value_or(DType::kUInt8);
    info.shape = view.shape;
    const auto element = static_cast<uint64_t>(storage.element_size);
    info.begin = storage.begin + static_cast<uint64_t>(view.offset) * element;
    info.end = info.begin + static_cast<uint64_t>(view.shape.size()) * element;
    infos.push_back(std::move(info));
  }
  return infos;
}

/// Throws for files that are neither layout.
void require_torch_file(const InputFile& file) {
  if (file.size() == 0) fail(ErrorKind::kFormat, "'{}' is empty; download it again", file.path());
  char start = 0;
  file.read_at(0, &start, 1);
  if (is_zip(file) || start == '\x80') return;
  fail(ErrorKind::kFormat, "'{}' is neither a zip file nor a pickle of torch.save; check the download",
       file.path());
}

}  // namespace

TorchFile TorchFile::open(const std::string& path) {
  InputFile file(path);
  require_torch_file(file);
  ZipLayout layout = is_zip(file) ? read_zip_layout(file) : ZipLayout{LegacyReader(file).read(), {}};
  return TorchFile(std::move(file), std::move(layout.tensors), CheckedZipEntries(std::move(layout.storages)));
}

TorchFile::TorchFile(InputFile file, TorchTensors tensors, CheckedZipEntries entries)
    : TensorReader(file.path(), infos_of(tensors)),
      file_(std::move(file)),
      tensors_(std::move(tensors)),
      entries_(std::move(entries)) {}

void TorchFile::verify() const {
  entries_.require_all(file_);
}

bool TorchFile::reads_parts(size_t index) const {
  return is_row_major(tensors_.views[index]);
}

void TorchFile::read_elements(size_t index, int64_t begin, int64_t count, void* destination) const {
  if (count == 0) return;
  const TorchView& view = tensors_.views[index];
  if (view.storage < entries_.size()) entries_.require(file_, view.storage);
  const auto element = static_cast<size_t>(tensors_.storages[view.storage].element_size);
  const uint64_t first = infos()[index].begin;
  if (is_row_major(view)) {
    file_.read_at(first + static_cast<uint64_t>(begin) * element, destination,
                  static_cast<size_t>(count) * element);
    file_.require_unchanged();
    return;
  }
  int64_t last = 0;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    last += (view.shape[axis] - 1) * view.strides[static_cast<size_t>(axis)];
  }
  std::vector<char> span(static_cast<size_t>(last + 1) * element);  // at most the storage
  file_.read_at(first, span.data(), span.size());
  file_.require_unchanged();
  Positions positions(view, begin);
  char* to = static_cast<char*>(destination);
  for (int64_t n = 0; n < count; ++n, to += element, positions.advance()) {
    std::memcpy(to, span.data() + static_cast<size_t>(positions.position()) * element, element);
  }
}

}  // namespace heed
