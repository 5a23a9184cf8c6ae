#!/usr/bin/env bash
# The packages of scripts/make-packages: the tarball runs where there is nothing else (as root; else from a folder with an
# empty environment), from several folders; the .deb has what it says.
#
#   packages.sh SOURCE BUILD
set -euo pipefail
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEED_PACKAGE_LEVEL=0 # fast
# Everybody can read what they have, whatever the umask.
(umask 077 && "$source/scripts/make-packages" "$work/packages" "$build")

# The same files give the same tarball, in whatever order and when they were made.
mkdir -p "$work"/{first,second}/files
echo text | tee "$work"/first/files/{b,a} >"$work/first/files/c"
echo text | tee "$work"/second/files/{c,a} >"$work/second/files/b"
touch -d 2001-01-01 "$work/second/files/a"
for copy in first second; do "$source/scripts/make-tarball" "$work/$copy/files" "$work/$copy/heed.tar.xz"; done
cmp "$work/first/heed.tar.xz" "$work/second/heed.tar.xz"

mkdir "$work/root"
tar -C "$work/root" --strip-components=1 -xf "$work"/packages/heed-*.tar.xz
if ((EUID == 0)); then
  # Nothing but the tarball: no /proc, no /lib64, no shell.
  translated=$(env -i "$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)" "$work/root" /bin/heed translate --pair de-en --threads 1 "Guten Morgen!")
  [[ $translated == "Good morning!" ]] || { echo "in an empty root: $translated"; exit 1; }
fi
mkdir "$work/a folder"
mv "$work/root" "$work/a folder/heed"
ln -s "$work/a folder/heed/bin/heed" "$work/link"
for command in "$work/a folder/heed/bin/heed" "$work/link"; do
  translated=$(cd / && env -i "$command" translate --threads 1 "Guten Morgen!")
  [[ $translated == "Good morning!" ]] || { echo "$command: $translated"; exit 1; }
done
[[ $(env -i "$work/link" translate --precision float32 "Wo ist der Bahnhof?") == \
  $("$build/bin/heed" translate --precision float32 "Wo ist der Bahnhof?") ]]
# Every library of it is its own.
found=$("$work/a folder/heed/lib/ld.so" --library-path "$work/a folder/heed/lib" --list "$work/a folder/heed/lib/heed")
if grep -v "$work\|linux-vdso\|ld-linux" <<<"$found"; then echo "libraries of the system"; exit 1; fi
[[ -s "$work/a folder/heed/share/doc/heed/licences/libicu72" || -n $(ls "$work/a folder/heed/share/doc/heed/licences") ]]

command -v dpkg-deb >/dev/null || exit 0
deb=$(echo "$work"/packages/*.deb)
dpkg-deb --contents "$deb" >"$work/contents"
for file in usr/bin/heed usr/share/heed/models/de-en/model.safetensors usr/share/doc/heed/THIRD-PARTY-LICENSES usr/lib/heed/libheed_pictures.so heed.service heed.1.gz copyright changelog.gz; do
  grep -q "$file" "$work/contents" || { echo "the .deb has no $file"; exit 1; }
done
if grep -vE '^(d|-)rw.r-.r-. |^l' "$work/contents"; then echo "the .deb has files that not everybody can read"; exit 1; fi
if grep -vE '^(-|d..x..x..x|l)' "$work/contents"; then echo "the .deb has folders that not everybody can enter"; exit 1; fi
dpkg-deb --field "$deb" Depends | tee "$work/depends"
for package in libc6 libdnnl[0-9.]* libicu[0-9]* libsentencepiece0 'libstdc\+\+6'; do grep -qE "(^|, )$package( |,)" "$work/depends"; done
# Unpacked, it runs with the libraries of the system.
dpkg-deb --extract "$deb" "$work/unpacked"
dpkg-deb --control "$deb" "$work/control"
(cd "$work/unpacked" && md5sum --quiet -c "$work/control/md5sums")
[[ $(env -i "$work/unpacked/usr/bin/heed" translate "Guten Morgen!") == "Good morning!" ]]
# Pictures are drawn by a library that the command loads from its own folder.
env -i "$work/unpacked/usr/bin/heed" attend "Guten Morgen!" --output "$work/picture.svg"
[[ -s "$work/picture.svg" ]]
# Installed into a root of its own, with what dpkg checks; not what it depends on.
if ((EUID == 0)); then
  mkdir -p "$work/system/var/lib/dpkg/"{info,updates}
  touch "$work/system/var/lib/dpkg/status"
  dpkg --root="$work/system" --force-depends --force-script-chrootless --install "$deb" >"$work/dpkg.out" 2>&1 || { cat "$work/dpkg.out"; exit 1; }
  [[ $(dpkg --root="$work/system" --verify heed) == "" && -x "$work/system/usr/bin/heed" ]]
fi
if command -v lintian >/dev/null; then lintian --fail-on error,warning "$deb"; fi
