#!/usr/bin/env bash
# smoke.sh FOLDER: checks what packaging/make.sh wrote there, and runs what this
# machine can run. Says what it skipped for lack of qemu-aarch64-static or lintian.
set -euo pipefail
cd "$(dirname "$0")/.."
data=$PWD/datasets
pages=$(ls docs/man/*.1 | wc -l)
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() { echo "$*" >&2; exit 1; }

sha256sum --check --quiet SHA256SUMS
test "$(wc -l <SHA256SUMS)" = "$(ls d3p_* | wc -l)" || die "SHA256SUMS does not list every file"

# fits COMMAND...: the program runs, and fits
fits() {
    rm -rf "$work/run"
    "$@" --version | grep '^d3p ' >/dev/null # -q would end before d3p does
    "$@" fit --epsilon 1 --steps 10 --draws 50 --quiet --out "$work/run" "$data/cohort.csv" >"$work/out"
    grep -q '^Claim: (1, 1e-05)-differential privacy' "$work/out"
    "$@" verify "$work/run" >/dev/null
}
# arm COMMAND...: runs a program for arm64
if command -v qemu-aarch64-static >/dev/null; then
    arm() { qemu-aarch64-static "$@"; }
elif [ "$(uname -m)" = aarch64 ]; then
    arm() { "$@"; }
else
    arm() { echo "skipped: no qemu-aarch64-static here, which runs ${1##*/}"; }
fi

for file in d3p_*_{linux,darwin,windows}_*; do
    [ -e "$file" ] || continue # packaging/make.sh was told other systems
    info=$(go version -m "$file")
    target=${file#d3p_*_} && target=${target%.exe}
    grep -q "GOOS=${target%_*}$" <<<"$info" && grep -q "GOARCH=${target#*_}$" <<<"$info" || die "$file is not for $target"
    case $target in linux_*) ! readelf -lW "$file" | grep INTERP >/dev/null || die "$file is not static" ;; esac
done
case $(uname -m) in
x86_64) fits ./d3p_*_linux_amd64 ;;
esac
case $(arm ./d3p_*_linux_arm64 --version) in
skipped*) arm ./d3p_*_linux_arm64 ;;
*) fits arm ./d3p_*_linux_arm64 ;;
esac

for deb in d3p_*.deb; do
    root=$work/${deb##*_}
    dpkg-deb --extract "$deb" "$root"
    test "$(ls "$root"/usr/share/man/man1/*.1.gz | wc -l)" = "$pages" || die "$deb has not $pages manual pages"
    (cd "$root" && dpkg-deb --info "$OLDPWD/$deb" md5sums | sed -n 's/^ *\([0-9a-f]\{32\} .*\)/\1/p' | md5sum --check --quiet)
    bash -n "$root/usr/share/bash-completion/completions/d3p"
    grep -q '^#compdef d3p' "$root/usr/share/zsh/vendor-completions/_d3p"
    grep -q 'complete -c d3p' "$root/usr/share/fish/vendor_completions.d/d3p.fish"
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error,warning "$deb"
    else
        echo "skipped: no lintian here, which reads $deb"
    fi
done
# dpkg installs the package in a root of its own, and removes it
case $(dpkg --print-architecture) in
amd64 | arm64)
    deb=$(echo d3p_*_"$(dpkg --print-architecture)".deb)
    mkdir -p "$work/root/var/lib/dpkg/"{info,updates,triggers}
    touch "$work/root/var/lib/dpkg/status"
    installed() { dpkg --root="$work/root" --log=/dev/null --force-depends --force-not-root --force-script-chrootless "$@" >/dev/null 2>&1; }
    installed --install "$deb"
    fits "$work/root/usr/bin/d3p"
    installed --remove d3p
    test ! -e "$work/root/usr/bin/d3p" || die "$deb is not removed"
    ;;
esac
echo "the files of $1 work"
