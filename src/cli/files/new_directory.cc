#include "cli/files/new_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/files/directory_listing.h"
#include "base/files/errno_reason.h"
#include "base/files/file.h"
#include "base/files/part_files.h"
#include "base/files/unfinished_files.h"
#include "models/directory/sentence_modules.h"

namespace heed::cli {

namespace fs = std::filesystem;

namespace {

/// Whether something is mounted there, such as a folder of a container's host; false where the system does
/// not tell.
bool is_mount_point(const std::string& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status {};
  return ::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS, &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  return false;
#endif
}

}  // namespace

NewDirectory::NewDirectory(const std::string& path)
    : path_(fs::path(path).has_filename() ? path : fs::path(path).parent_path().string()) {
  std::error_code error;
  if (fs::exists(path) && !(fs::is_directory(path, error) && names_in(path).empty())) {
    fail(ErrorKind::kFile, "cannot create '{}': it already exists, and is not replaced: give another name",
         path);
  }
  if (is_mount_point(path_)) {
    fail(ErrorKind::kFile,
         "cannot create '{}': it is a mount point, which cannot be replaced: give the name of a folder in it",
         path_);
  }
  make_directories(directory_of(path_));
  remove_dead_parts_of(path_);
  do {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    forget_unfinished(part_);
    part_ = create_part(path_, [](const std::string& name) { return ::mkdir(name.c_str(), 0777) == 0; });
    if (part_.empty()) {
      fail(ErrorKind::kFile, "cannot create the directory '{}': {}", path_, reason(errno));
    }
    descriptor_ = ::open(part_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Again, if another process removed it as an abandoned one before it was locked.
  } while (descriptor_ < 0 ? errno == ENOENT : !lock_part(descriptor_));
}

void NewDirectory::remove_part() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove_all(part_, ignored);
  forget_unfinished(part_);
}

NewDirectory::~NewDirectory() {
  remove_part();
  if (descriptor_ >= 0) ::close(descriptor_);
}

void NewDirectory::commit() {
  sync_directory(part_);
  std::error_code error;
  fs::rename(part_, path_, error);
  if (error == std::errc::directory_not_empty || error == std::errc::file_exists)
    fail(ErrorKind::kFile, "cannot create '{}': another command wrote it meanwhile, and it is kept", path_);
  if (error) fail(ErrorKind::kFile, "cannot write '{}': {}", path_, error.message());
  forget_unfinished(std::exchange(part_, {}));
  sync_directory(directory_of(path_));
}

namespace {

/// Weights in any toolkit's format; they are not copied, since they would contradict the new ones.
bool holds_weights(const std::string& name) {
  if (name == model_file::kShortlist) return false;
  for (const char* each :
       {".safetensors", ".bin", ".pt", ".pth", ".npz", ".h5", ".msgpack", ".ot", ".onnx", ".gguf"}) {
    if (name.ends_with(each)) return true;
  }
  return name.ends_with(model_file::kIndexSuffix);
}

bool is_hidden(const std::string& path) {
  return fs::path(path).filename().string().starts_with(".");
}

}  // namespace

void copy_others(const ModelInventory& input, const std::string& output) {
  for (const std::string& name : models::model_files(input)) {
    if (name == model_file::kConfig || is_hidden(name) || holds_weights(name)) continue;
    const std::string path = fmt::format("{}/{}", output, name);
    make_directories(directory_of(path));
    write_file(path, read_file(input.path(name)));
  }
}

}  // namespace heed::cli
