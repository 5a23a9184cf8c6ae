// Reads a pickle, the format of Python's objects, without executing anything: a stack machine that knows the
// opcodes of torch.save and builds inert values. A class or function is only its name, and "calling" one is
// up to a PickleCalls, which knows a few and throws for all others.
//
// The opcodes: Lib/pickletools.py of CPython. Only protocols 2 and 3, and of those only what torch.save
// writes for a dictionary of tensors: every other opcode is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A value of a pickle. Values refer to each other by index into a PickleValues, so that nothing that is
/// nested deeply, or contains itself, is walked or freed recursively.
struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,          ///< number
    kInteger,       ///< number
    kLargeInteger,  ///< text: two's complement, little-endian
    kFloat,
    kString,       ///< text, valid UTF-8
    kGlobal,       ///< text: "module\nname"
    kTuple,        ///< items
    kList,         ///< items
    kDict,         ///< items: key, value, key, value, ...
    kOrderedDict,  ///< as kDict
    kStorage,      ///< items: those of its persistent id
    kTensor,       ///< items: those of the call that makes it
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;
  std::string_view text = {};  ///< points into the pickle
  std::vector<uint32_t> items = {};
};
using PickleValues = std::vector<PickleValue>;

/// The names, classes and functions that a pickle may use.
class PickleCalls {
 public:
  virtual ~PickleCalls() = default;
  /// Throws kFormat unless a global is known.
  virtual void require_known(std::string_view global) const = 0;
  /// The value of global(arguments...). Throws kFormat if it is unknown or the arguments do not fit.
  virtual PickleValue call(std::string_view global, const std::vector<uint32_t>& arguments,
                           const PickleValues& values) const = 0;
  /// The value of a persistent id. Throws kFormat if it is malformed.
  virtual PickleValue load(const PickleValue& id, const PickleValues& values) const = 0;
};

/// The result of read_pickle().
struct Pickle {
  PickleValues values;
  uint32_t root = 0;  ///< the value that the pickle describes
  size_t end = 0;     ///< of the pickle in the bytes given
  /// Whether the bytes ended before the pickle; nothing else is set then.
  bool truncated = false;
};

/// Reads the pickle at the start of `bytes`, which must outlive the result. `origin` names it in messages
/// ("data.pkl of 'model.bin'"). Throws kFormat for everything that is malformed or unknown, except a pickle
/// that is cut off.
Pickle read_pickle(std::string_view bytes, const std::string& origin, const PickleCalls& calls);

}  // namespace heed
