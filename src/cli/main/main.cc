// The command `heed`.
#include "cli/options/command.h"

int main(int argc, char** argv) {
  return heed::cli::run(argc, argv);
}
