#include "inspect/reading/reading.h"

#include <gmock/gmock.h>

#include "inspect/test_inspected_models.h"

namespace heed {
namespace {

using ::testing::ElementsAre;

TEST(Reading, IdsAndTheirTargetStayApart) {
  const TestInspected model = small_language_model();
  const Reading reading = read_text(model.view(), "3 4 5 6 7", "11 12");
  EXPECT_THAT(reading.decoder_ids, ElementsAre(3, 4, 5, 6, 7, 11, 12));
  EXPECT_THAT(reading.target_ids, ElementsAre(11, 12));
  EXPECT_THAT(reading.rows, ElementsAre(4, 5));
  EXPECT_THAT(read_text(model.view(), "3 4 5 6 7 ", " 11").target_ids, ElementsAre(11));
}

}  // namespace
}  // namespace heed
