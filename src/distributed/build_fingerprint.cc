#include "distributed/build_fingerprint.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "heed/error.h"

namespace heed::distributed {
namespace {

constexpr std::array<std::string_view, 3> kLibraries{"libdnnl.", "libm.", "libsentencepiece."};

/// The path of each file that holds such code, by name.
using Paths = std::vector<std::pair<std::string, std::string>>;

/// Whether an address of this program lies in a loaded file.
bool contains(const dl_phdr_info& file, uintptr_t address) {
  return std::any_of(file.dlpi_phdr, file.dlpi_phdr + file.dlpi_phnum, [&](const auto& part) {
    const uintptr_t begin = file.dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && begin <= address && address < begin + part.p_memsz;
  });
}

int add_file(dl_phdr_info* file, size_t, void* result) {
  Paths& paths = *static_cast<Paths*>(result);
  const std::string path = file->dlpi_name[0] == '\0' ? "/proc/self/exe" : file->dlpi_name;
  const std::string name = path.substr(path.rfind('/') + 1);
  if (contains(*file, reinterpret_cast<uintptr_t>(&code_files))) paths.emplace_back("heed", path);
  for (const std::string_view library : kLibraries) {
    if (name.starts_with(library)) paths.emplace_back(name, path);
  }
  return 0;
}

std::string hash_of(const std::string& path) {
  try {
    const MappedFile content(path);
    Fingerprint all;
    all.add(content.view());
    return hexadecimal(all.value());
  } catch (const Error&) {
    return "unreadable";
  }
}

}  // namespace

std::vector<CodeFile> code_files() {
  Paths paths;
  ::dl_iterate_phdr(add_file, &paths);
  std::sort(paths.begin(), paths.end());
  std::vector<CodeFile> files;
  for (const auto& [name, path] : paths) files.push_back({name, hash_of(path)});
  return files;
}

}  // namespace heed::distributed
