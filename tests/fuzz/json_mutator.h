// Mutations of JSON that leave it well-formed. Of the inputs that libFuzzer makes of bytes, most are refused
// by the JSON parser, and never come to the code that reads what they say.
#pragma once

#include <cstddef>
#include <cstdint>

/// libFuzzer's own mutation, which also inserts words of its dictionary.
extern "C" size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t room);

namespace heed {

/// For LLVMFuzzerCustomMutator: changes `bytes[0, size)` in place, to at most `room` bytes, and returns the
/// new size. JSON is expected from `begin` to the end; what is none, and one input in four, is changed byte
/// by byte. The same input and seed give the same output, as long as LLVMFuzzerMutate does, which changes
/// names and texts.
size_t mutate_json(uint8_t* bytes, size_t size, size_t room, unsigned seed, size_t begin = 0);

/// The same for a line and the JSON behind it.
size_t mutate_json_behind_line(uint8_t* bytes, size_t size, size_t room, unsigned seed);

}  // namespace heed
