// Pictures where there is no Cairo: the page draws its own. In place of picture_backend.cc.
#include "base/check.h"
#include "inspect/draw/picture_backend.h"

namespace heed {

const PictureBackend& picture_backend() {
  fail(ErrorKind::kNotFound,
       "pictures as files are drawn by the command and by the server, not in the browser");
}

}  // namespace heed
