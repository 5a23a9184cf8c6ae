#include "serve/sandbox.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/files/directory_listing.h"

namespace heed::serve {
namespace {

namespace fs = std::filesystem;

// The interface of newer kernels, which the headers of Debian 12 do not have yet.
struct RulesetAttributes {
  uint64_t files, network, scope;
};
constexpr uint64_t kFileRightsOfFirstVersion = (uint64_t{1} << 13) - 1;
constexpr uint64_t kRefer = uint64_t{1} << 13, kTruncate = uint64_t{1} << 14,
                   kDeviceControl = uint64_t{1} << 15;
constexpr uint64_t kBindTcp = 1, kConnectTcp = 2;
constexpr uint64_t kAbstractSockets = 1, kSignals = 2;

/// All rights that this version of Landlock can take.
RulesetAttributes all_rights(long version) {
  RulesetAttributes all{kFileRightsOfFirstVersion, 0, 0};
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 4) all.network = kBindTcp | kConnectTcp;
  if (version >= 5) all.files |= kDeviceControl;
  if (version >= 6) all.scope = kAbstractSockets | kSignals;
  return all;
}

/// What the kernel of this version knows: it refuses longer attributes.
size_t size_of_attributes(long version) {
  if (version >= 6) return sizeof(RulesetAttributes);
  return version >= 4 ? offsetof(RulesetAttributes, scope) : offsetof(RulesetAttributes, network);
}

class Descriptor {
 public:
  explicit Descriptor(long number) : number_(static_cast<int>(number)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// What is not there needs no permission. 0 on success. Throws kFile if there is no descriptor or memory for
/// it.
long allow_reading(int ruleset, const std::string& path) {
  const Descriptor opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (opened.number() < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    fail(ErrorKind::kFile, "cannot open '{}' for the sandbox: {}", path, std::strerror(errno));
  }
  struct stat status {};
  if (opened.number() < 0 || ::fstat(opened.number(), &status) != 0) return 0;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
  if (S_ISDIR(status.st_mode)) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
  rule.parent_fd = opened.number();
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

std::string reason(const char* what) {
  const int code = errno;
  if (code == ENOSYS) return "this kernel is older than Landlock";
  if (code == EOPNOTSUPP) return "Landlock is switched off in this kernel";
  return std::string(what) + ": " + std::strerror(code);
}

/// Adds what the links in a directory, and in those below it, lead to.
void add_targets_of_links(const fs::path& directory, std::vector<std::string>& paths) {
  std::error_code error;
  for (const std::string& name : names_in(directory, error)) {
    const fs::path path = directory / name;
    const fs::file_type type = fs::symlink_status(path, error).type();
    if (type == fs::file_type::directory) add_targets_of_links(path, paths);
    if (type != fs::file_type::symlink) continue;
    const fs::path target = fs::canonical(path, error);
    if (!error) paths.push_back(target.string());
  }
}

/// Where libraries of Heed lie that are loaded later, such as that of pictures: lib/ beside bin/ of the
/// command; and if this code is in a Python package, there, and where a wheel keeps the libraries of the
/// system.
void add_library_folders(std::vector<std::string>& paths) {
  std::error_code unknown;
  const fs::path executable = fs::canonical("/proc/self/exe", unknown);
  if (unknown) return;
  paths.push_back((executable.parent_path().parent_path() / "lib").string());
  Dl_info code{};
  if (::dladdr(reinterpret_cast<const void*>(&add_library_folders), &code) == 0) return;
  const fs::path file = fs::canonical(code.dli_fname, unknown);
  if (unknown || file == executable) return;
  paths.push_back(file.parent_path().string());
  paths.push_back((file.parent_path().parent_path() / "heed.libs").string());
}

}  // namespace

std::vector<std::string> readable_when_serving(const std::vector<std::string>& model_directories) {
  std::vector<std::string> paths{
      "/usr/lib", "/usr/lib64", "/usr/share",       "/usr/local/lib", "/usr/local/share",
      "/lib",     "/lib64",     "/etc/ld.so.cache", "/etc/fonts",     "/var/cache/fontconfig"};
  add_library_folders(paths);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  paths.emplace_back("/proc");  // which the report of leaks reads at the end
#endif
  for (const std::string& directory : model_directories) {
    paths.push_back(directory);
    add_targets_of_links(directory, paths);
  }
  return paths;
}

std::string restrict_thread(const std::vector<std::string>& readable) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return reason("Landlock");
  const RulesetAttributes taken = all_rights(version);
  const Descriptor ruleset(::syscall(SYS_landlock_create_ruleset, &taken, size_of_attributes(version), 0));
  if (ruleset.number() < 0) return reason("landlock_create_ruleset");
  for (const std::string& path : readable) {
    if (allow_reading(ruleset.number(), path) != 0) return reason("landlock_add_rule");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return reason("no_new_privs");
  if (::syscall(SYS_landlock_restrict_self, ruleset.number(), 0) != 0)
    return reason("landlock_restrict_self");
  return "";
}

}  // namespace heed::serve
