// A SentencePiece model as the parts of a pipeline.
#pragma once

#include <string>

#include "text/pipeline/text_pipeline.h"
#include "text/readers/sentencepiece_file.h"

namespace heed {

/// Ids are the indices of the pieces. Throws kFormat, with `name` (the file), for pieces that contradict each
/// other (SentencePieceVocabulary). `unmarks_unknown`: see SentencePieceDecoderOptions.
PipelineParts sentencepiece_parts(const SentencePieceFile& file, const std::string& name,
                                  bool unmarks_unknown = false);

}  // namespace heed
