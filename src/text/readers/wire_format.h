// A bounds-checked reader of the protocol buffers wire format.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heed {

/// One field of a message.
struct WireField {
  enum Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  uint32_t number = 0;
  Type type = kVarint;
  uint64_t value = 0;      ///< for kVarint, kFixed64 and kFixed32
  std::string_view bytes;  ///< for kBytes: a string or a nested message
};

/// The fields of one message in order.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  /// The next field; empty at the end or for a malformed message.
  std::optional<WireField> next();
  /// Whether all fields so far were well-formed and the message ended at a field boundary.
  bool intact() const { return intact_; }

 private:
  std::optional<uint64_t> read_varint();
  std::optional<uint64_t> read_fixed(size_t size);
  bool read_value(WireField& field);

  std::string_view rest_;
  bool intact_ = true;
};

}  // namespace heed
