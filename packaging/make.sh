#!/usr/bin/env bash
# make.sh FOLDER [SYSTEM/ARCHITECTURE...]: the programs of a release, for all systems or
# those named, its packages, and their SHA256SUMS, in FOLDER. The same commit and Go make the same bytes. Needs Go, and dpkg-deb for the
# packages. The static programs have no CUDA engine; the packages for Debian have.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1 targets=${*:2}
mkdir -p "$out"
rm -f "$out"/d3p_* "$out"/SHA256SUMS
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0 TZ=UTC
umask 022

stamped=false SOURCE_DATE_EPOCH=0
if git rev-parse HEAD >/dev/null 2>&1; then
    stamped=true
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
fi
export SOURCE_DATE_EPOCH

# build SYSTEM ARCHITECTURE TAGS FILE
build() {
    echo "building ${4##*/}"
    GOOS=$1 GOARCH=$2 go build -trimpath -buildvcs=$stamped -ldflags='-s -w' -tags "$3" -o "$4" ./cmd/d3p
}

# the version that Go stamps: v1.2.3 at a tag, else v0.0.0-TIME-COMMIT, (devel) without git
build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" nogpu "$work/d3p"
version=$("$work/d3p" --version | sed -n '1s/^d3p v\{0,1\}//p' | tr '+' '-')
version=${version/(devel)/0.0.0-devel}

for target in ${targets:-linux/amd64 linux/arm64 darwin/arm64 darwin/amd64 windows/amd64}; do
    name=d3p_${version}_${target/\//_}
    case $target in windows/*) name=$name.exe ;; esac
    build "${target%/*}" "${target#*/}" nogpu "$out/$name"
done

# package ARCHITECTURE: the .deb, with manual pages and completions
package() {
    local root=$work/$1
    build linux "$1" "" "$root/usr/bin/d3p"
    mkdir -p "$root"/usr/share/{man/man1,doc/d3p,lintian/overrides,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d} "$root/DEBIAN"
    for page in docs/man/*.1; do gzip -9n <"$page" >"$root/usr/share/man/man1/${page##*/}.gz"; done
    "$work/d3p" completion bash >"$root/usr/share/bash-completion/completions/d3p"
    "$work/d3p" completion zsh >"$root/usr/share/zsh/vendor-completions/_d3p"
    "$work/d3p" completion fish >"$root/usr/share/fish/vendor_completions.d/d3p.fish"
    cp packaging/debian/copyright "$root/usr/share/doc/d3p/copyright"
    cp packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/d3p"
    local deb=${version/-/\~}-1
    sed "s/VERSION/$deb/; s/DATE/$(date -R -d "@$SOURCE_DATE_EPOCH")/" packaging/debian/changelog | gzip -9n >"$root/usr/share/doc/d3p/changelog.Debian.gz"
    local size
    size=$(du -k --apparent-size -s "$root/usr" | cut -f1)
    sed "s/VERSION/$deb/; s/ARCHITECTURE/$1/; s/SIZE/$size/" packaging/debian/control >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums)
    echo "packing d3p_${version}_$1.deb"
    dpkg-deb --root-owner-group -Zxz -z9 --threads-max=1 --build "$root" "$out/d3p_${version}_$1.deb" >/dev/null
}
package amd64
package arm64

(cd "$out" && sha256sum d3p_* >SHA256SUMS)
cat "$out/SHA256SUMS"
