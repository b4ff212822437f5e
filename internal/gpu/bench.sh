#!/bin/sh
# On a machine with a CUDA device: bench.sh [checks] [timings] [sanitizers], all three
# if none is named, each at most nine and a half minutes, about two as a rule.
#
#   checks      the device's bits against one thread's, and the conformance suite
#   timings     the tables for docs/results/gpu.txt, and of the same network in JAX, if python3
#               has it; then how they compare
#   sanitizers  the first of the checks again under NVIDIA's tools, if installed
#
# It needs bin/gpu.test (make bin/gpu.test, or GPU_TEST names it) and, for the bits, a C++
# compiler, but neither Go nor the CUDA toolkit. With GPU_TEST_SMALL=1 each part does
# little, which shows on a slow device that it runs. Every part has a limit of its own and goes on after
# those before it, whatever became of them. What this prints is in $OUT/bench.md too,
# and all that its parts print in $OUT/bench.log, as it comes.
set -u
cd "$(dirname "$0")"
tests=${GPU_TEST:-../../bin/gpu.test}
few=${GPU_TEST_SMALL:+/wide.from.0/^one_predictor$} # of the models
calls=${GPU_TEST_SMALL:+/^(operations|sums$|logistic|steps|replicates)} # all models make the same calls
out=${OUT:-../../bin}
log=$out/bench.log
mkdir -p "$out"
export CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-/tmp/d3p-cuda}" # so that the driver compiles the kernels once
export PATH="$PATH:/usr/local/cuda/bin"
: >"$log"

# part SECONDS PATTERN COMMAND...: the lines of its output that match are printed, and,
# if those of tests are among them, how many passed
part() {
    limit=$1 pattern=$2
    shift 2
    { timeout -k 5 "$limit" "$@" 2>&1 || echo "FAIL: $* ended with status $?"; } | tee -a "$log" |
        awk -v pattern="$pattern|SKIP|FAIL|panic|error" '
            $0 ~ pattern { print; fflush() }
            /=== RUN/ { running = $3 }
            /FAIL: .* ended with status/ && running { print "the last test that began: " running }
            /--- PASS/ { passed++ }
            /--- FAIL/ { failed++ }
            /--- SKIP/ { skipped++ }
            END { if (pattern ~ /---/) printf "%d passed, %d failed, %d skipped, subtests included\n", passed, failed, skipped }'
}

checks() {
    part 300 '^ ? ? ? ?--- ' "$tests" -test.v -test.run "OnDeviceSameBits$calls" -test.timeout 295s
    part 240 '^ ? ? ? ?--- ' "$tests" -test.v -test.run "OnDeviceConformance$few" -test.timeout 235s
}

timings() {
    echo '| workload | records in a batch | µs a step | steps/s of all fits | table read, of the bandwidth (goal for large: at least 50 %) | an epoch |'
    echo '|---|---|---|---|---|---|'
    for workload in autoencoder logistic hierarchical mixture large; do
        part 90 '^[|]' "$tests" -test.v -test.run "OnDeviceTimes/^$workload" -test.timeout 85s
    done
    if python3 -c 'import jax' 2>/dev/null; then
        part 110 '^[|]|JAX' python3 -u testdata/autoencoder_jax.py
    else
        echo 'no JAX: the ratio to it is not measured'
    fi
    awk -F ' *[|] *' '
        /^[|]/ { took[$2] = $4 }
        function compare(what, one, other, goal) {
            if (took[one] > 0 && took[other] > 0) printf "%s: %.2f%s\n", what, took[other] / took[one], goal
        }
        END {
            compare("256 fits, in times of one", "hierarchical N=500", "hierarchical N=500, 256 fits", " (goal: at most 2)")
            for (b = 128; b <= 512; b *= 4) for (k = split("float32 tensorfloat32", p, " "); k > 0; k--)
                compare("JAX " p[k] " at B=" b ", in times of d3p", "autoencoder B=" b, "autoencoder B=" b ", JAX " p[k])
        }' "$log"
}

sanitizers() {
    if ! command -v compute-sanitizer >/dev/null; then
        echo 'no compute-sanitizer'
        return
    fi
    for tool in memcheck racecheck synccheck; do
        part 180 '^=====.*SUMMARY|^ok|^PASS' env GPU_TEST_SMALL=1 compute-sanitizer --tool $tool "$tests" -test.run OnDeviceSameBits
    done
}

what=${*:-checks timings sanitizers}
for k in $what; do
    case $k in
    checks | timings | sanitizers) ;;
    *) echo "bench.sh: no part is called $k (checks, timings or sanitizers)" >&2 && exit 2 ;;
    esac
done
{
    part 10 . nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem --format=csv
    part 10 . sh -c 'echo "$(date -u +%F), d3p $(git -C ../.. rev-parse --short HEAD 2>/dev/null || cat ../../bin/commit 2>/dev/null)"'
    for k in $what; do
        $k
    done
} | tee "$out/bench.md"
