// Identifies the code that computes, to detect processes that run another build.
#pragma once

#include <string>
#include <vector>

namespace heed::distributed {

/// A file with code and a hash of its content.
struct CodeFile {
  std::string name;   ///< "heed", or the name of a library without its directory
  std::string value;  ///< hexadecimal
};

/// The program or library that contains Heed, and the libraries that its numbers depend on: oneDNN, the
/// mathematical functions of C, SentencePiece.
std::vector<CodeFile> code_files();

}  // namespace heed::distributed
