#include "inspect/trace/trace_labels.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(TraceLabels, TheFirstTokenOfATranslationIsItsStart) {
  Trace trace;
  trace.source_tokens = {"a", "<pad>"};
  trace.target_tokens = {"b", "</s>"};
  trace.decoder_tokens = {"<pad>", "b"};
  EXPECT_EQ(key_labels(trace, Stack::kDecoder, "_")[0].text, "\u27E8start\u27E9");
  EXPECT_EQ(key_labels(trace, Stack::kDecoder, "_")[1].text, "b");
  EXPECT_EQ(key_labels(trace, Stack::kCross, "_")[1].text, "\u27E8pad\u27E9") << "padding of the source";
  EXPECT_EQ(query_labels(trace, Stack::kCross, "_")[1].text, "\u27E8end\u27E9");
  trace.decoder_tokens = {"__en__", "b"};
  EXPECT_EQ(key_labels(trace, Stack::kDecoder, "_")[0].text, "__en__") << "a language says more";
  trace.source_tokens.clear();
  trace.decoder_tokens = {"<pad>", "b"};
  EXPECT_EQ(key_labels(trace, Stack::kDecoder, "_")[0].text, "\u27E8pad\u27E9")
      << "a text is not a translation";
}

}  // namespace
}  // namespace heed
