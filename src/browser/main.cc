// The functions that heed.wasm exports to JavaScript, and main(), which a module never calls.
#include <cstddef>
#include <cstdlib>
#include <string>

#include "browser/module/module.h"

namespace {

std::string& last_answer() {
  static std::string answer;
  return answer;
}

}  // namespace

/// Memory for a request of `size` bytes, which heed_answer() frees.
extern "C" __attribute__((export_name("heed_request"))) void* heed_request(size_t size) {
  return std::malloc(size);
}

/// Answers the request (Module::answer) and returns the number of bytes of the answer.
extern "C" __attribute__((export_name("heed_answer"))) size_t heed_answer(char* request, size_t size) {
  static heed::browser::Module module;
  last_answer() = module.answer(std::string(request, size));
  std::free(request);
  return last_answer().size();
}

/// The bytes of the last answer, until the next request.
extern "C" __attribute__((export_name("heed_answer_bytes"))) const char* heed_answer_bytes() {
  return last_answer().data();
}
