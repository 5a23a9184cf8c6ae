// Base64 (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <string>

namespace heed {

/// Encodes `size` bytes, with padding.
std::string to_base64(const void* bytes, size_t size);

}  // namespace heed
