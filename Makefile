# Targets for people; .ci/run runs what must pass. Everything needs only Go,
# except race (a C compiler) and experiments-quick (public data, see datasets/).

GO ?= go

.PHONY: all build static test race bench experiments-quick soak docs datasets ptx clean

all: build

build:
	$(GO) build -o bin/d3p ./cmd/d3p

# one file without libc, without the CUDA engine
static:
	CGO_ENABLED=0 $(GO) build -tags nogpu -o bin/d3p ./cmd/d3p

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

# compare two commits: make bench > old.txt; make bench > new.txt; benchstat old.txt new.txt
bench:
	$(GO) test -run '^$$' -bench . -benchmem -count 10 ./...

# the shipped defaults against the accuracy targets, through the command line
experiments-quick: build
	$(GO) run ./internal/experiments -d3p bin/d3p

# every fuzz target for a minute, the tests ten times, then thousands of random
# runs through the accountant
soak:
	bash .ci/fuzz 60s
	$(GO) test -count 10 ./...
	D3P_SOAK=1 $(GO) test -run Random -timeout 12h ./internal/privacy/accountant

# man pages and schemas, from the commands' own text and the types
docs:
	$(GO) test ./cmd/d3p -run TestManPages -update
	$(GO) test ./internal/report -run TestPrivacySchema -update

# the CUDA kernels as PTX, which is embedded; needs Debian's clang-14 only
ptx:
	sh internal/gpu/kernel/ptx.sh $(CURDIR)/internal/gpu/kernels.ptx

datasets:
	$(GO) run ./datasets/generate

clean:
	rm -rf bin
