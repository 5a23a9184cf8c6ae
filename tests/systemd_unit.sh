#!/usr/bin/env bash
# systemd-analyze verify of deploy/heed.service with a built command in place of the installed one, and that the
# exposure which it leaves is small. Exits 77 (skipped) without systemd.
#
#   tests/systemd_unit.sh HEED
set -euo pipefail
command -v systemd-analyze >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unit=$folder/heed.service
sed "s|/usr/local/bin/heed|$(realpath "$1")|" "$(dirname "$0")/../deploy/heed.service" >"$unit"
grep -q "^ExecStart=$(realpath "$1") serve " "$unit"
found=$(systemd-analyze verify "$unit" 2>&1) || { echo "$found"; exit 1; }
[[ -z $found ]] || { echo "$found"; exit 1; } # unknown settings are warnings only
systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" >"$folder/exposure" || { tail -n 1 "$folder/exposure"; exit 1; }
"$1" serve --help >"$folder/help"
# What the unit starts is understood: the same words with another port.
sed -n 's/^ExecStart=[^ ]* //p' "$unit" | tr ' ' '\n' | grep -v '^[0-9/]' | grep '^--' | while read -r option; do
  grep -q -e "$option" "$folder/help" || { echo "heed serve has no $option"; exit 1; }
done
