#include "text/readers/wire_format.h"

namespace heed {

std::optional<uint64_t> WireReader::read_varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> WireReader::read_fixed(size_t size) {
  if (rest_.size() < size) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  rest_.remove_prefix(size);
  return value;
}

bool WireReader::read_value(WireField& field) {
  std::optional<uint64_t> value;
  switch (field.type) {
    case WireField::kVarint:
    case WireField::kBytes:
      value = read_varint();
      break;
    case WireField::kFixed64:
      value = read_fixed(8);
      break;
    case WireField::kFixed32:
      value = read_fixed(4);
      break;
  }
  if (!value) return false;
  field.value = *value;
  if (field.type != WireField::kBytes) return true;
  if (*value > rest_.size()) return false;
  field.bytes = rest_.substr(0, *value);
  rest_.remove_prefix(*value);
  return true;
}

std::optional<WireField> WireReader::next() {
  if (!intact_ || rest_.empty()) return std::nullopt;
  intact_ = false;
  const std::optional<uint64_t> tag = read_varint();
  if (!tag || (*tag >> 3) == 0 || (*tag >> 3) > 0x1FFFFFFF) return std::nullopt;
  WireField field;
  field.number = static_cast<uint32_t>(*tag >> 3);
  const uint64_t type = *tag & 7;
  // SentencePiece models contain no groups (types 3 and 4).
  if (type != WireField::kVarint && type != WireField::kFixed64 && type != WireField::kBytes &&
      type != WireField::kFixed32) {
    return std::nullopt;
  }
  field.type = static_cast<WireField::Type>(type);
  intact_ = read_value(field);
  if (!intact_) return std::nullopt;
  return field;
}

}  // namespace heed
