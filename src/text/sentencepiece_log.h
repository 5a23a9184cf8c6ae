// Keeps the SentencePiece library from writing to stderr.
#pragma once

namespace heed {

/// Once per process. The library has one level for all its users in it.
void silence_sentencepiece();

}  // namespace heed
