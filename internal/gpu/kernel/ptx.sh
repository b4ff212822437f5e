#!/bin/sh
# Compiles the kernels to PTX: ptx.sh FILE. It needs Debian's clang-14 and no
# CUDA toolkit; the result is the same byte for byte wherever it runs.
set -eu
cd "$(dirname "$0")"
clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx70 \
    -nocudainc -nocudalib -std=c++17 -O3 -ffp-contract=off -S -o - kernels.cu >"$1"
