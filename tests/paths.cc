#include "paths.h"

namespace heed {

std::string source_folder() {
  return HEED_SOURCE_DIR;
}
std::string heed_command() {
  return HEED_COMMAND;
}
std::string emulator() {
  return HEED_EMULATOR;
}

}  // namespace heed
