"""Source files of a corpus: an unpacked folder, or a commit of a git repository, checked out or bare."""
import fnmatch
import pathlib
import subprocess


def find(folder, name):
    """The tree of a source in the user's folder: NAME, its last part, or with + for / as some mirrors are called. None if
    it is not there."""
    for candidate in (name, name.replace("/", "+"), name.rpartition("/")[2]):
        path = pathlib.Path(folder) / candidate
        for place in (path, path / "repo", path.with_name(path.name + ".git")):
            if (place / "HEAD").is_file() or (place / ".git").exists(): return GitTree(place)
        if path.is_dir(): return FolderTree(path)
    return None


class FolderTree:
    """An unpacked package. It has one version."""

    def __init__(self, path): self.path = pathlib.Path(path)

    def paths(self, pattern="*"):
        names = sorted(str(p.relative_to(self.path)) for p in self.path.rglob("*") if p.is_file())
        return [name for name in names if fnmatch.fnmatchcase(name, pattern)]

    def read(self, path):
        """The text of a file; None if it is not there."""
        file = self.path / path
        return file.read_bytes().decode("utf-8", errors="replace") if file.is_file() else None

    def at(self, commit): return self

    def version(self): return ""


class GitTree:
    """The files of one commit. Work trees are not looked at, so the result is the same for everyone."""

    def __init__(self, path, commit="HEAD"):
        self.path, self.commit, self._reader, self._names = path, commit, None, None

    def at(self, commit):
        """The same repository at another commit; None if it does not have it."""
        if self._git("cat-file", "-t", commit).strip() != b"commit": return None
        tree = GitTree(self.path, commit)
        tree._reader = self._open_reader()
        return tree

    def paths(self, pattern="*"):
        if self._names is None:
            listing = self._git("ls-tree", "-r", "-z", "--name-only", self.commit)
            self._names = sorted(listing.decode("utf-8", errors="replace").split("\0")[:-1])
        return [name for name in self._names if fnmatch.fnmatchcase(name, pattern)]

    def read(self, path):
        """The text of a file; None if it is not there."""
        reader = self._open_reader()
        reader.stdin.write(f"{self.commit}:{path}\n".encode())
        reader.stdin.flush()
        kind = reader.stdout.readline().split()
        if kind[-1] == b"missing" or len(kind) != 3: return None
        data = reader.stdout.read(int(kind[2]))
        reader.stdout.read(1)
        return data.decode("utf-8", errors="replace") if kind[1] == b"blob" else None

    def version(self): return self._git("rev-parse", "--short=10", self.commit).decode().strip()

    def _git(self, *arguments):
        return subprocess.run(["git", "-C", str(self.path), *arguments], capture_output=True, check=False).stdout

    def _open_reader(self):
        """One git process that answers all reads of the repository."""
        if self._reader is None:
            self._reader = subprocess.Popen(["git", "-C", str(self.path), "cat-file", "--batch"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return self._reader
