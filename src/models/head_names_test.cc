#include "models/head_names.h"

#include <gtest/gtest.h>

#include "models/stacks/decoder_only.h"
#include "models/stacks/rnn_seq2seq.h"
#include "models/stacks/transformer.h"
#include "test_folder.h"

namespace heed::models {
namespace {

nn::HeadScales head(const std::string& text) {
  return nn::HeadScales({parse_head(text)});
}

void expect_missing(const Model& model, const std::string& text, const std::string& part) {
  expect_error(ErrorKind::kUsage, part, [&] { require_heads(model, head(text)); });
}

// These models have no weights: heads are checked without a forward pass.
TEST(HeadNames, KnowsTheHeadsOfEachStackOfATransformer) {
  TransformerConfig config;
  config.vocabulary = 8;
  config.width = 12;
  config.encoder_layers = 3;
  config.decoder_layers = 2;
  config.encoder_heads = 2;
  config.decoder_heads = 4;
  const Transformer model(config);
  for (const char* text : {"encoder:3:2", "decoder:2:4", "cross:2:4", "cross:all:4", "encoder:3"}) {
    EXPECT_NO_THROW(require_heads(model, head(text))) << text;
  }
  expect_missing(model, "encoder:3:3", "layers 1 to 3 with heads 1 to 2");
  expect_missing(model, "cross:3:1", "no head 1 in layer 3 of 'cross'");
  expect_missing(model, "decoder:all:5", "layers 1 to 2 with heads 1 to 4");
}

TEST(HeadNames, ListsEveryHead) {
  TransformerConfig config;
  config.vocabulary = 8;
  config.width = 12;
  config.encoder_layers = 1;
  config.decoder_layers = 2;
  config.encoder_heads = 2;
  config.decoder_heads = 1;
  std::vector<std::string> names;
  for (const nn::HeadScale& each : heads_of(Transformer(config))) names.push_back(head_name(each));
  EXPECT_EQ(names, (std::vector<std::string>{"encoder:1:1", "encoder:1:2", "cross:1:1", "cross:2:1",
                                             "decoder:1:1", "decoder:2:1"}));
  RnnConfig rnn;
  rnn.vocabulary = rnn.source_vocabulary = 8;
  expect_error(ErrorKind::kUsage, "recurrent network", [&] { heads_of(RnnSeq2Seq(rnn)); });
}

TEST(HeadNames, NamesStacksThatAModelDoesNotHave) {
  RnnConfig config;
  config.vocabulary = config.source_vocabulary = 8;
  const RnnSeq2Seq recurrent(config);
  expect_missing(recurrent, "cross:1:1", "recurrent network");
  EXPECT_NO_THROW(require_heads(recurrent, {}));
}

TEST(HeadNames, RejectsTextThatNamesNoHead) {
  for (const char* text : {"", "cross", "cross:0:1", "cross:1:0", "cross:1:x", "left:1:1", "cross:1:1:1"}) {
    expect_error(ErrorKind::kUsage, "stack:layer:head", [&] { parse_head(text); });
  }
}

}  // namespace
}  // namespace heed::models
