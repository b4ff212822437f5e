# Targets for people; .ci/run runs what must pass. Everything needs only Go,
# except race (a C compiler) and experiments (public data, see datasets/).

GO ?= go

.PHONY: all build static dist test race bench results experiments experiments-quick soak docs pictures datasets ptx ptxas bench-gpu clean

all: build

# without symbols for debuggers; stack traces need none
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/d3p ./cmd/d3p

# one file without libc, without the CUDA engine
static:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -tags nogpu -o bin/d3p ./cmd/d3p

# programs for five systems and packages for Debian in dist/, with checksums; and
# what of them runs on this machine
dist:
	bash packaging/make.sh dist
	bash packaging/smoke.sh dist

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

# compare two commits: make bench > old.txt; make bench > new.txt; benchstat old.txt new.txt
bench:
	$(GO) test -run '^$$' -bench . -benchmem -count 10 ./...

# the dated tables of docs/results; PARTS="steps coverage" measures these alone
results:
	docs/results/measure.sh $(PARTS)

# the papers' figures and the accuracy targets, through the command line; docs/results/goals.txt
# has the times. What is stopped goes on where it was: docs/results/figures holds every fit
experiments: build
	$(GO) run ./internal/experiments -d3p bin/d3p -tasks fig-abalone,fig-hierarchical,fig-iterations,fig-mixture,fig-one-draw,fig-clip-bound,fig-neural,fig-attack,fig-groups,fig-step,fig-auto-encoder
	docs/results/measure.sh utility mnist

# the same figures of two fits a point in bin/figures, and the targets, of which it
# prints what is missed; 25 minutes of a processor. It ends with an error if a fit failed
experiments-quick: build
	$(GO) build -o bin/experiments ./internal/experiments
	status=0; \
	bin/experiments -d3p bin/d3p -tasks fig-abalone,fig-hierarchical,fig-iterations,fig-mixture,fig-one-draw,fig-clip-bound,fig-groups -runs 2 -figures bin/figures || status=1; \
	bin/experiments -d3p bin/d3p || [ $$? = 3 ] || status=1; \
	exit $$status

# every fuzz target for a minute, the tests ten times, then thousands of random
# runs through the accountant
soak:
	bash .ci/fuzz 60s
	$(GO) test -count 10 ./...
	D3P_SOAK=100 $(GO) test -run 'Random|Envelope' -timeout 12h ./internal/privacy/accountant
	D3P_SOAK=1000 $(GO) test -run 'MovesTheSum|MovesATrace|OtherInstructions' -timeout 12h ./internal/privacy/sensitivity ./internal/score ./internal/gpu

# man pages and schemas, from the commands' own text and the types
docs:
	$(GO) test ./cmd/d3p -run TestManPages -update
	$(GO) test ./internal/report -run TestPrivacySchema -update
	$(GO) test ./internal/models -run 'TestSchema|TestExamples|TestManual' -update
	$(GO) test ./docs -run 'TestSchemas|TestPackages' -update

# the pictures of docs/reference/outputs.md, by chromium
pictures: build
	bash docs/images/make.sh

# the CUDA kernels as PTX, which is embedded; needs Debian's clang-14 only
ptx:
	sh internal/gpu/kernel/ptx.sh $(CURDIR)/internal/gpu/kernels.ptx

# the PTX as machine code, with NVIDIA's compiler where it is installed: registers
# and spills of each kernel
ptxas:
	for arch in sm_70 sm_80 sm_90; do ptxas -arch=$$arch -v -o /dev/null internal/gpu/kernels.ptx || exit 1; done

# the engine's tests as a program, for a machine with a CUDA device and without Go
bin/gpu.test: FORCE
	CGO_ENABLED=0 $(GO) test -c -ldflags='-s -w' -o $@ ./internal/gpu
	git rev-parse --short HEAD >bin/commit

# on a machine with a CUDA device: checks, and the times for docs/results/gpu.txt
bench-gpu: bin/gpu.test
	internal/gpu/bench.sh

FORCE:

datasets:
	$(GO) run ./datasets/generate

clean:
	rm -rf bin
