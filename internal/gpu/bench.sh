#!/bin/sh
# On a machine with a CUDA device: the device's bits against one thread's, the table
# of times of docs/gpu.md, the same network in JAX if python3 has it, the conformance
# suite, and the tests again under NVIDIA's checkers if they are installed. It needs
# bin/gpu.test (make bin/gpu.test) and, for the first, a C++ compiler, but neither Go
# nor the CUDA toolkit; about six minutes, of at most ten.
#
# Every part has a limit of its own and goes on after those before it, whatever became
# of them. All that is printed goes to $OUT/bench.log as it comes.
set -u
cd "$(dirname "$0")"
tests=../../bin/gpu.test
out=${OUT:-../../bin}
mkdir -p "$out"
export CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-/tmp/d3p-cuda}" # so that the driver compiles the kernels once
: >"$out/bench.log"

# part SECONDS PATTERN COMMAND...: the lines of its output that match are printed
part() {
    limit=$1 pattern=$2
    shift 2
    { timeout -k 5 "$limit" "$@" 2>&1 || echo "FAIL: $* ended with status $?"; } |
        tee -a "$out/bench.log" | grep --line-buffered -E "$pattern|SKIP|FAIL|panic|error"
}

# timed PREFIX: the rows of the table that begin so
timed() { part 100 '^\|' "$tests" -test.v -test.run "OnDeviceTimes/^$1" -test.timeout 95s; }

part 10 . nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem --format=csv
part 10 . sh -c 'echo "$(date -u +%F), d3p $(git -C ../.. rev-parse --short HEAD 2>/dev/null || cat ../../bin/commit 2>/dev/null)"'
part 120 '^ *---' "$tests" -test.v -test.run OnDeviceSameBits -test.timeout 115s

printf '\n| workload | records in a batch | µs a step | steps/s of all fits | table read | an epoch |\n|---|---|---|---|---|---|\n'
for workload in autoencoder logistic hierarchical mixture large; do
    timed "$workload"
done
if python3 -c 'import jax' 2>/dev/null; then
    part 100 '^\||JAX' python3 -u testdata/autoencoder_jax.py
else
    echo 'no JAX: the ratio to it is not measured'
fi

part 60 '^---' "$tests" -test.v -test.run OnDeviceConformance -test.timeout 55s
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck; do
        part 60 '^=====.*SUMMARY|^ok|^PASS' env GPU_TEST_SMALL=1 compute-sanitizer --tool $tool "$tests" -test.run OnDeviceSameBits
    done
else
    echo 'no compute-sanitizer'
fi
