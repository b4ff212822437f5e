#!/usr/bin/env bash
# Measures the tables of this folder again: make results, or docs/results/measure.sh PART...
# Each part writes docs/results/PART.txt: date, processor, commit, the command, what it printed.
#
# The statistics (coverage, gold, tools, utility) do not depend on the machine's load. Timings do:
# as root on a shared machine set PRIORITY="chrt -f 20".
set -euo pipefail
cd "$(dirname "$0")/../.."

failed=

# write PART COMMAND...: runs the command and keeps what it prints in PART.txt. After an error (3 is
# none: a target is missed) PART.txt stays as it was.
write() {
    local part=$1 out=docs/results/$1.txt status=0
    shift
    echo "$part: $*" >&2
    {
        echo "date       $(date -u +%Y-%m-%d)"
        echo "processor  $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs), $(nproc) threads, $(go env GOVERSION)"
        echo "commit     $(git rev-parse --short HEAD)"
        echo "command    docs/results/measure.sh $part: $*"
        [ -z "${PRIORITY:-}" ] || echo "priority   $PRIORITY, load average $(cut -d' ' -f1 /proc/loadavg)"
        echo
        "$@" || { status=$?; echo "exit status $status"; }
    } >"$out.new"
    if [ "$status" != 0 ] && [ "$status" != 3 ]; then
        echo "measure.sh: $part failed with status $status: see $out.new" >&2
        failed="$failed $part"
        return
    fi
    sed -i 's/[[:space:]]*$//' "$out.new"
    mv "$out.new" "$out"
}

# benchmark PACKAGE PATTERN [TIME]: a benchmark, with the priority that the caller asked for
benchmark() {
    go test -c -o bin/results.test "./$1"
    (cd "$1" && exec ${PRIORITY:-} "$OLDPWD/bin/results.test" -test.run '^$' -test.bench "$2" -test.benchtime "${3:-1x}")
}

# layers: times and memory of layers, a line each
layers() {
    benchmark internal/cpu 'Layers$' | awk '
        BEGIN { n = split("private-ms plain-ms x-time opacus-x-time naive-ms private-KiB plain-KiB x-memory opacus-x-memory naive-KiB", unit, " ")
            printf "%-32s", "layer"; for (i = 1; i <= n; i++) printf " %15s", unit[i]; print "" }
        /^Benchmark/ { split("", of); for (i = 3; i < NF; i += 2) of[$(i + 1)] = $i
            sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
            printf "%-32s", $1; for (i = 1; i <= n; i++) printf " %15s", of[unit[i]]; print "" }'
}

experiments() { bin/experiments -d3p bin/d3p "$@"; }

# resumed TASKS: experiments whose fits bin/results holds until all are done, so that the same
# commit goes on after a stop
resumed() {
    local status=0 fits
    fits=bin/results/$(git rev-parse --short HEAD)-$1.csv
    mkdir -p bin/results
    experiments -tasks "$1" -results "$fits" || status=$?
    case $status in 0 | 3) rm -f "$fits" ;; esac
    return "$status"
}

mkdir -p bin
go build -o bin/d3p ./cmd/d3p
go build -o bin/experiments ./internal/experiments
[ $# -gt 0 ] || set -- steps parts private layers kernels random batches reading ranks command coverage gold tools twins rates utility audit
for part; do
    case $part in
    steps) write steps benchmark internal/cpu Workloads ;;
    parts) write parts benchmark internal/cpu Parts ;;
    private) write private benchmark internal/fit PrivateStep ;;
    layers) write layers layers ;;
    kernels) write kernels benchmark internal/simd . 20ms ;;
    random) write random benchmark internal/privacy/noise . 20ms ;;
    batches) write batches benchmark internal/privacy/sampler . 20ms ;;
    reading) write reading benchmark internal/privacy/internal/records ReadCSV 5x ;;
    ranks) write ranks benchmark internal/run Ranks ;;
    command) write command benchmark cmd/d3p Command 5x ;;
    coverage) write coverage experiments -tasks priors,cohort ;;
    gold) write gold experiments -tasks gold ;;
    tools) write tools experiments -tasks tools -epsilons 1 -tables 8 ;;
    audit)
        go build -o bin/audit ./internal/experiments/audit
        write audit bin/audit -d3p bin/d3p -fits 300
        ;;
    twins) write twins experiments -tasks twins ;;
    methods) write methods experiments -tasks methods ;;
    rates) write rates python3 docs/results/rates.py bin/d3p "${D3P_DATA:-../shared/data}" ;;
    reference)
        export D3P_DATA=${D3P_DATA:-../shared/data}
        write reference Rscript docs/results/reference.R bin/d3p
        ;;
    mnist) write mnist resumed vae,vae-narrow,cnn,scattering,scattering-fashion ;;
    utility) write utility resumed hlr100,hlr200,hlr500,hlr1000,gmm ;;
    *)
        echo "measure.sh: $part: parts are steps parts private layers kernels random batches reading command coverage gold tools twins methods rates reference mnist utility audit" >&2
        exit 2
        ;;
    esac
done
[ -z "$failed" ] || exit 1
