// Command audit attacks the built d3p from outside, as someone who chooses the records and
// the settings: it fits tables with and without a record, reads only the released
// parameters, and prints the refuted epsilon beside the claimed one.
//
//	go build -o bin/d3p ./cmd/d3p && go run ./internal/experiments/audit
//
// A claim below the refuted epsilon is a broken guarantee, and the exit status is 1.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// refuted is the exit status if everything was attacked and a claim was refuted; after an error it
// is 1.
const refuted = 3

func main() {
	var o options
	var only string
	flag.StringVar(&o.d3p, "d3p", "bin/d3p", "the d3p binary to attack")
	flag.IntVar(&o.fits, "fits", 600, "fits with the canary, and as many without, where there is one canary")
	flag.Float64Var(&o.noise, "noise", 1, "attack fits with this part of the certified noise, to see that the attack would notice")
	flag.StringVar(&only, "only", "", "attack the scenarios whose name has this text")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the coins")
	flag.Parse()
	broken, err := run(o, only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
	if broken > 0 {
		fmt.Printf("%d claims refuted\n", broken)
		os.Exit(refuted)
	}
}

// options are the settings of one invocation.
type options struct {
	d3p   string
	fits  int
	noise float64
	seed  uint64
}

// confidence of each printed lower bound.
const confidence = 0.99

// run attacks the scenarios and returns how many claims were refuted.
func run(o options, only string) (broken int, err error) {
	const header, row = "%-62s  %8s  %4s  %7s  %5s  %s\n", "%-62s  %8d  %4d  %7g  %5g  %.3f%s\n"
	fmt.Printf(header, "fit", "canaries", "fits", "claimed", "delta", "epsilon at least")
	list, err := scenarios()
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if !strings.Contains(s.name, only) {
			continue
		}
		dir, err := os.MkdirTemp("", "d3p-audit-")
		if err != nil {
			return broken, err
		}
		found, err := attack{options: o, scenario: s, dir: dir}.run()
		os.RemoveAll(dir)
		if err != nil {
			return broken, fmt.Errorf("%s: %w", s.name, err)
		}
		verdict := ""
		if found.atLeast > found.epsilon {
			broken++
			verdict = "  REFUTED"
		}
		fmt.Printf(row, s.name, len(s.canaries), found.fits, found.epsilon, found.delta, found.atLeast, verdict)
	}
	return broken, nil
}
