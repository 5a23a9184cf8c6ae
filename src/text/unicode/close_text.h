// Closes ICU's view of a text: std::unique_ptr<UText, CloseText>.
#pragma once

#include <unicode/utext.h>

namespace heed {

struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};

}  // namespace heed
