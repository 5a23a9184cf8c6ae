#include "io/torch/pickle_reader.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "base/text/utf8_length.h"

namespace heed {
namespace {

using Kind = PickleValue::Kind;

/// Bounds the memory of a small file: a tensor has some 20 values, and no model has 100,000 tensors.
constexpr size_t kMaxValues = size_t{1} << 21;

/// The names of pickletools.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyTuple = ')',
  kEmptyList = ']',
  kEmptyDict = '}',
  kBinFloat = 'G',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
};

struct EndOfBytes {};  // thrown inside this file only

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& origin, const PickleCalls& calls)
      : bytes_(bytes), origin_(origin), calls_(calls) {}

  Pickle run() {
    Pickle result;
    try {
      while (!stopped_) step();
    } catch (const EndOfBytes&) {
      result.truncated = true;
      return result;
    }
    if (stack_.size() != 1 || !marks_.empty()) refuse("values are left over at its end");
    result.root = stack_.back();
    result.values = std::move(values_);
    result.end = at_;
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kFormat, "{} is not a pickle of tensors: {} (at byte {})", origin_, why, opcode_at_);
  }

  // ---- Bytes ----

  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) throw EndOfBytes();
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) throw EndOfBytes();
    const std::string_view taken = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return taken;
  }

  // ---- Stack ----

  void push_index(uint32_t index) {
    if (stack_.size() >= kMaxValues) refuse("it has too many values");
    stack_.push_back(index);
  }
  void push(PickleValue value) {
    if (values_.size() >= kMaxValues) refuse("it has too many values");
    values_.push_back(std::move(value));
    push_index(static_cast<uint32_t>(values_.size() - 1));
  }
  void push(Kind kind, int64_t value = 0, std::string_view text = {}) { push({kind, value, text}); }
  /// The first position of the stack that belongs to the values after the last mark.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  uint32_t pop() {
    if (stack_.size() <= floor()) refuse("it takes a value from an empty stack");
    const uint32_t index = stack_.back();
    stack_.pop_back();
    return index;
  }
  uint32_t top() const {
    if (stack_.size() <= floor()) refuse("it uses a value of an empty stack");
    return stack_.back();
  }
  std::vector<uint32_t> pop_many(size_t count) {
    if (stack_.size() - floor() < count) refuse("it takes a value from an empty stack");
    const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<uint32_t> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return items;
  }
  std::vector<uint32_t> pop_to_mark() {
    if (marks_.empty()) refuse("it refers to a mark that is missing");
    std::vector<uint32_t> items = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  // ---- Opcodes ----

  void push_tuple(std::vector<uint32_t> items) { push({Kind::kTuple, 0, {}, std::move(items)}); }

  void append(const std::vector<uint32_t>& items) {
    PickleValue& list = values_[top()];
    if (list.kind != Kind::kList) refuse("it appends to a value that is not a list");
    for (const uint32_t item : items) add_item(list, item);
  }
  void set_items(const std::vector<uint32_t>& items) {
    PickleValue& dict = values_[top()];
    if (dict.kind != Kind::kDict && dict.kind != Kind::kOrderedDict) {
      refuse("it sets an item of a value that is not a dictionary");
    }
    if (items.size() % 2 != 0) refuse("it sets an item without a value");
    for (const uint32_t item : items) add_item(dict, item);
  }
  void add_item(PickleValue& container, uint32_t item) {
    if (&values_[item] == &container) refuse("a container contains itself");
    if (++contained_ > kMaxValues) refuse("it has too many values");
    container.items.push_back(item);
  }

  void get(uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) refuse(fmt::format("it refers to the value {}, which it did not store", key));
    push_index(found->second);
  }

  void push_global() {
    const std::string_view module = line(), name = line();
    // One range of the pickle: "module\nname".
    const std::string_view both(module.data(), module.size() + 1 + name.size());
    calls_.require_known(both);
    push(Kind::kGlobal, 0, both);
  }

  void reduce() {
    const uint32_t arguments = pop(), function = pop();
    if (values_[arguments].kind != Kind::kTuple)
      refuse("it calls a function with arguments that are not a tuple");
    if (values_[function].kind != Kind::kGlobal) refuse("it calls a value that is not a function");
    push(calls_.call(values_[function].text, values_[arguments].items, values_));
  }

  /// The state of an object: of an OrderedDict its attributes, which say nothing about tensors.
  void build() {
    pop();
    if (values_[top()].kind != Kind::kOrderedDict) {
      refuse("it sets the state of a value that is not an OrderedDict");
    }
  }

  void push_long(std::string_view digits) {
    if (digits.size() > sizeof(int64_t)) return push(Kind::kLargeInteger, 0, digits);
    uint64_t value = 0;
    std::memcpy(&value, digits.data(), digits.size());
    const bool negative = !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80) != 0;
    if (negative && digits.size() < sizeof value) value |= ~uint64_t{0} << (8 * digits.size());
    push(Kind::kInteger, static_cast<int64_t>(value));
  }

  void push_string(std::string_view text) {
    if (!is_utf8(text)) refuse(fmt::format("the string '{}' is not valid UTF-8", shown(text)));
    push(Kind::kString, 0, text);
  }

  void step() {
    opcode_at_ = at_;
    const auto opcode = number<uint8_t>();
    switch (opcode) {
      case kProto: {
        const auto protocol = number<uint8_t>();
        if (protocol != 2 && protocol != 3) {
          refuse(
              fmt::format("its protocol is {}, expected 2 or 3; save the weights with torch.save without "
                          "pickle_protocol",
                          protocol));
        }
        return;
      }
      case kStop:
        stopped_ = true;
        return;
      case kMark:
        if (marks_.size() >= kMaxValues) refuse("it has too many marks");
        return marks_.push_back(stack_.size());
      case kNone:
        return push(Kind::kNone);
      case kNewTrue:
        return push(Kind::kBool, 1);
      case kNewFalse:
        return push(Kind::kBool, 0);
      case kBinInt:
        return push(Kind::kInteger, number<int32_t>());
      case kBinInt1:
        return push(Kind::kInteger, number<uint8_t>());
      case kBinInt2:
        return push(Kind::kInteger, number<uint16_t>());
      case kLong1:
        return push_long(take(number<uint8_t>()));
      case kBinFloat:
        take(8);
        return push(Kind::kFloat);
      case kBinUnicode:
        return push_string(take(number<uint32_t>()));
      case kShortBinString:
        return push_string(take(number<uint8_t>()));
      case kEmptyTuple:
        return push(Kind::kTuple);
      case kTuple1:
        return push_tuple(pop_many(1));
      case kTuple2:
        return push_tuple(pop_many(2));
      case kTuple3:
        return push_tuple(pop_many(3));
      case kTuple:
        return push_tuple(pop_to_mark());
      case kEmptyList:
        return push(Kind::kList);
      case kEmptyDict:
        return push(Kind::kDict);
      case kAppend:
        return append(pop_many(1));
      case kAppends:
        return append(pop_to_mark());
      case kSetItem:
        return set_items(pop_many(2));
      case kSetItems:
        return set_items(pop_to_mark());
      case kBinGet:
        return get(number<uint8_t>());
      case kLongBinGet:
        return get(number<uint32_t>());
      case kBinPut:
        memo_[number<uint8_t>()] = top();
        return;
      case kLongBinPut:
        memo_[number<uint32_t>()] = top();
        return;
      case kGlobal:
        return push_global();
      case kReduce:
      case kNewObj:
        return reduce();
      case kBuild:
        return build();
      case kBinPersId: {
        const uint32_t id = pop();
        return push(calls_.load(values_[id], values_));
      }
      default:
        refuse(opcode > ' ' && opcode < 0x7f
                   ? fmt::format("unknown opcode '{}', which torch.save does not write",
                                 static_cast<char>(opcode))
                   : fmt::format("unknown opcode 0x{:02x}, which torch.save does not write", opcode));
    }
  }

  std::string_view bytes_;
  const std::string& origin_;
  const PickleCalls& calls_;
  size_t at_ = 0, opcode_at_ = 0;
  bool stopped_ = false;
  PickleValues values_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::unordered_map<uint32_t, uint32_t> memo_;
  size_t contained_ = 0;
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& origin, const PickleCalls& calls) {
  return Machine(bytes, origin, calls).run();
}

}  // namespace heed
