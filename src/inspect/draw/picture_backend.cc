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
    Dl_info found{};
    const bool known = function != nullptr && ::dladdr(reinterpret_cast<void*>(function), &found) != 0;
    fail(ErrorKind::kNotFound, "'{}' is of another version of Heed than this one, {}: install that of {}",
         known ? found.dli_fname : kLibrary, HEED_VERSION, HEED_VERSION);
  }
  return *backend;  // the library stays loaded
}

}  // namespace

const PictureBackend& picture_backend() {
  static const PictureBackend& backend = load();
  return backend;
}

}  // namespace heed
