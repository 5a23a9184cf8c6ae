#include "inspect/draw/picture_backend.h"

#include <dlfcn.h>

#include "base/check.h"
#include "heed/version.h"

namespace heed {
namespace {

// Found by the run path of the program or library that contains this code.
constexpr const char* kLibrary = "libheed_pictures.so";

const PictureBackend& load() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(ErrorKind::kNotFound, "pictures are drawn by {}, which cannot be loaded: {}", kLibrary, ::dlerror());
  }
  auto* const function = reinterpret_cast<PictureBackendFunction*>(::dlsym(library, kPictureBackendFunction));
  const PictureBackend* const backend = function != nullptr ? function(HEED_VERSION) : nullptr;
  if (backend == nullptr) {
    fail(ErrorKind::kNotFound,
         "the {} that was found is of another version than this one, {}: install that of {}", kLibrary,
         HEED_VERSION, HEED_VERSION);
  }
  return *backend;  // the library stays loaded
}

}  // namespace

const PictureBackend& picture_backend() {
  static const PictureBackend& backend = load();
  return backend;
}

}  // namespace heed
