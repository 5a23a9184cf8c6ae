// Silences the SentencePiece library, which logs to stderr.
#pragma once

namespace heed {

/// Runs once per process; the library's log level is global.
void silence_sentencepiece();

}  // namespace heed
