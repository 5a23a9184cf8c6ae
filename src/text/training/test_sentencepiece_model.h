// Test helper: a SentencePiece model by its pieces, without the ids of a vocabulary.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/readers/sentencepiece_parts.h"
#include "text/training/sentencepiece_trainer.h"

namespace heed {

struct Piece {
  std::string text;
  size_t begin = 0, end = 0;
  int number = 0;
};

class SentencePieceModel {
 public:
  static SentencePieceModel from_bytes(std::string bytes, const std::string& name) {
    return SentencePieceModel(std::move(bytes), name);
  }
  static std::string train(const SentencePieceTrainOptions& options, const NextLine& lines) {
    return train_sentencepiece(options, lines);
  }

  std::vector<Piece> encode(std::string_view text) const { return pieces_of(pipeline_->tokens(text)); }
  std::vector<std::vector<Piece>> sample(std::string_view text, const SubwordSampling& sampling,
                                         Random& random) const {
    std::vector<std::vector<Piece>> all;
    for (Encoding& each : pipeline_->sample(text, sampling, random))
      all.push_back(pieces_of(std::move(each)));
    return all;
  }
  std::string decode(std::vector<std::string> pieces) const {
    (*decoder_)[0]->apply(pieces);
    return pieces[0];
  }

  int size() const { return file_->size(); }
  const std::string& piece(int number) const { return (*file_)[number].text; }
  bool is_special(int number) const { return file_->is_special(number); }
  int byte_of(int number) const { return file_->byte_of(number); }
  float score(int number) const { return (*file_)[number].score; }
  bool keeps_text() const { return file_->keeps_text(); }
  int start() const { return file_->start_id(); }
  int end() const { return file_->end_id(); }
  int unknown() const { return file_->unknown_id(); }
  const std::string& bytes() const { return *bytes_; }

 private:
  SentencePieceModel(std::string bytes, const std::string& name)
      : bytes_(std::make_shared<const std::string>(std::move(bytes))),
        file_(std::make_shared<const SentencePieceFile>(
            read_sentencepiece_file(std::string_view(*bytes_), std::string_view(name)))),
        decoder_(std::make_shared<DecoderList>(*std::move(sentencepiece_parts(*file_, name).decoder))),
        pipeline_(std::make_shared<const TextPipeline>(sentencepiece_parts(*file_, name), file_->size())) {}

  static std::vector<Piece> pieces_of(Encoding encoding) {
    std::vector<Piece> pieces;
    for (size_t n = 0; n < encoding.size(); ++n)
      pieces.push_back({std::move(encoding.pieces[n]), encoding.spans[n].first, encoding.spans[n].second,
                        encoding.ids[n]});
    return pieces;
  }

  std::shared_ptr<const std::string> bytes_;
  std::shared_ptr<const SentencePieceFile> file_;
  std::shared_ptr<const DecoderList> decoder_;
  std::shared_ptr<const TextPipeline> pipeline_;
};

}  // namespace heed
