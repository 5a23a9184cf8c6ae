// A program that uses an installed Heed through its public headers. Given a version, it insists on it.
#include <heed/error.h>
#include <heed/version.h>

#include <cstring>
#include <iostream>

int main(int count, char** arguments) {
  const char* expected = count > 1 ? arguments[1] : HEED_VERSION;
  std::cout << "heed " << heed::version() << ", headers of " << HEED_VERSION << '\n';
  if (std::strcmp(heed::version(), expected) != 0 || std::strcmp(HEED_VERSION, expected) != 0) {
    std::cerr << "expected version " << expected << '\n';
    return 1;
  }
  try {
    throw heed::Error(heed::ErrorKind::kShape, "7 heads do not divide a width of 512; choose a divisor");
  } catch (const heed::Error& error) {
    std::cout << error.what() << '\n';
    return error.kind() == heed::ErrorKind::kShape ? 0 : 1;
  }
}
