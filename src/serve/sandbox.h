// Takes from the server what it does not need, so that an error in a parser opens no file of its user. By
// Linux's Landlock (https://docs.kernel.org/userspace-api/landlock.html), which needs no rights and no
// configuration.
#pragma once

#include <string>
#include <vector>

namespace heed::serve {

/// What serving models reads after its start: the directories, the files elsewhere that links in them lead to
/// (as in the cache of the Hugging Face Hub), and libraries and fonts for pictures. Directories stand for all
/// below them.
std::vector<std::string> readable_when_serving(const std::vector<std::string>& model_directories);

/// Takes from the calling thread and from all threads that it starts later, for good: opening files other
/// than below `readable`, opening any file for writing, creating, renaming and removing files, starting
/// programs, and, where the kernel can, opening TCP connections and sending signals to other processes.
/// Descriptors that are open stay usable. Returns why the kernel does not do so, empty on success; then
/// nothing is taken. Throws kFile if there are too many open files to name one of `readable`.
std::string restrict_thread(const std::vector<std::string>& readable);

}  // namespace heed::serve
