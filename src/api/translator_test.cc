#include "heed/translator.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(PublicTranslator, SaysWhatIsMissing) {
  try {
    const Translator translator("/no/such/model");
    FAIL() << "a directory that does not exist was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_NE(std::string(error.what()).find("/no/such/model"), std::string::npos) << error.what();
  }
}

TEST(PublicTranslator, AChainNeedsModels) {
  EXPECT_THROW(Translator::chain({}), Error);
  EXPECT_THROW(Translator::chain({"/no/such/model", "/no/such/model"}), Error);
}

}  // namespace
}  // namespace heed
