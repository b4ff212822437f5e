#!/bin/sh
# On a machine with a CUDA device: the engine's tests there, the table of times of
# docs/gpu.md, the same network in JAX if python3 has it, and the tests again under
# NVIDIA's checkers if they are installed. It needs bin/gpu.test (make bin/gpu.test)
# and a C++ compiler, but neither Go nor the CUDA toolkit, and takes about six
# minutes.
set -eu
cd "$(dirname "$0")"
tests=../../bin/gpu.test

"$tests" -test.v -test.run 'OnDevice(Conformance|SameBits)' -test.timeout 4m | grep -E '^(---|PASS|panic)|SKIP|FAIL'

printf '\n%s, %s, d3p %s\n\n' "$(date -u +%F)" \
    "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)" "$(git -C ../.. rev-parse --short HEAD 2>/dev/null || echo '?')"
"$tests" -test.v -test.run OnDeviceTimes -test.timeout 4m | grep -E '^\||SKIP|FAIL|_test.go'

if python3 -c 'import jax' 2>/dev/null; then
    timeout 100 python3 testdata/autoencoder_jax.py
fi

command -v compute-sanitizer >/dev/null || exit 0
for tool in memcheck racecheck synccheck; do
    echo "compute-sanitizer $tool"
    GPU_TEST_SMALL=1 timeout 60 compute-sanitizer --tool $tool "$tests" -test.run OnDeviceSameBits | tail -n 3
done
