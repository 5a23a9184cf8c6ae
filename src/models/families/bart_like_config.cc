// What config.json and parameters of M2M-100, BART and mBART have in common.
#include <nlohmann/json.hpp>

#include "models/families/transformer_families.h"

namespace heed::models {

void describe_bart_like(ConfigFields& fields, TransformerConfig& c, const TransformerDefaults& defaults,
                        std::optional<int32_t> start_id) {
  fields.integer("vocab_size", c.vocabulary, kVocabularySizes);
  describe_transformer(fields, c, defaults);
  fields.boolean("tie_word_embeddings", c.tied_output, true);
  const IntegerRange ids{0, c.vocabulary - 1};
  fields.integer("pad_token_id", c.padding_id, ids, 1);
  describe_end_id(fields, c, 2);
  fields.integer("decoder_start_token_id", c.start_id, ids, start_id);
  fields.derive([&](const JsonObject&) {
    c.source_vocabulary = c.vocabulary;
    c.first_row = 2;
    c.forbids_padding = c.translates_sentences = false;
  });
  fields.ignore({"prefix"});  // a text that tasks begin with
  fields.neutral("share_encoder_decoder_embeddings", {true});
}

TransformerFamily bart_like_family(const std::string& model_type) {
  TransformerFamily family = marian_family();
  family.model_type = model_type;
  family.optional_prefix = "model.";
  family.left_out = {"model.encoder.version", "model.decoder.version", "encoder.version", "decoder.version"};
  return family;
}

}  // namespace heed::models
