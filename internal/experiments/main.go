// Command experiments runs the shipped defaults through the d3p command line on public
// data and prints measured values beside their thresholds.
//
//	go run ./internal/experiments -tasks abalone,simlr -runs 10
//	go run ./internal/experiments -tasks coverage -models logistic -cells right,cor.95 -records 1000 -results intervals.csv
//
// The task coverage fits tables of its cells with the program. The tasks priors,
// tools and cohort fit tables simulated from priors in this process. None of these
// needs data.
//
// The data are in $D3P_DATA, or in ../shared/data; those of the tasks hlr* are in
// reference/utility/data beside it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// missed is the exit status if everything was measured and a threshold was missed; after an
// error it is 1.
const missed = 3

func main() {
	var opt options
	var tasks string
	flag.StringVar(&opt.d3p, "d3p", "bin/d3p", "the d3p binary to judge")
	flag.StringVar(&opt.shared, "shared", defaultShared(), "folder with data/ and, for hlr*, reference/utility/")
	flag.StringVar(&tasks, "tasks", "abalone,simlr,adult", "comma-separated: "+strings.Join(taskNames(), ","))
	flag.IntVar(&opt.runs, "runs", 0, "fits per setting (0: each task's own number)")
	flag.StringVar(&opt.epsilons, "epsilons", "", "comma-separated epsilons to judge (empty: all in the reference)")
	flag.IntVar(&opt.tables, "tables", 0, "coverage, priors, tools, cohort: simulated tables per setting (0: each task's own number)")
	flag.StringVar(&opt.models, "models", "", "coverage, priors, tools: comma-separated regressions; methods: tables (empty: all)")
	flag.StringVar(&opt.methods, "methods", "", "methods: comma-separated methods (empty: all)")
	flag.StringVar(&opt.records, "records", "", "coverage, priors, tools: comma-separated numbers of records (empty: each task's own)")
	flag.StringVar(&opt.scores, "scores", "", "priors, tools, cohort: add the scores of every table to this CSV file, to compare two versions table by table")
	flag.StringVar(&opt.cells, "cells", "", "coverage: comma-separated cells (empty: all): "+names(cells, func(c cell) string { return c.name }))
	flag.StringVar(&opt.results, "results", "", "coverage: file of intervals, other tasks: of scores; fits that it holds are not repeated")
	flag.StringVar(&opt.fit, "fit", "", "coverage: further arguments of d3p fit")
	flag.IntVar(&opt.references, "references", 2, "coverage: tables that are fitted without privacy, too")
	flag.IntVar(&opt.first, "first", 0, "coverage: number of the first table, to measure tables that no rule was chosen on")
	flag.IntVar(&opt.parallel, "parallel", runtime.GOMAXPROCS(0), "coverage: fits side by side")
	flag.BoolVar(&opt.kinds, "kinds", false, "coverage: print a line for each kind of parameter")
	flag.StringVar(&opt.peers, "peers", "", "twins: folder of tables that other programs made; their input is written there")
	flag.StringVar(&opt.keep, "keep", "", "keep models, data and runs in this folder")
	flag.StringVar(&opt.figures, "figures", filepath.Join("docs", "results", "figures"), "fig-*: folder of the fits, SVG and PNG; fits that it holds are not repeated")
	flag.Parse()

	failed, err := run(opt, strings.Split(tasks, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "experiments:", err)
		os.Exit(1)
	}
	if failed > 0 {
		fmt.Printf("%d thresholds missed\n", failed)
		os.Exit(missed)
	}
}

// options are the settings of one invocation.
type options struct {
	d3p, shared, keep, peers, epsilons string
	runs                               int

	// of simulated tables
	models, methods, records, scores string
	tables                           int

	figures string

	// of cells
	cells, results, fit         string
	references, parallel, first int
	kinds                       bool
}

// defaultShared is the folder above $D3P_DATA, else ../shared.
func defaultShared() string {
	if d := os.Getenv("D3P_DATA"); d != "" {
		return filepath.Dir(d)
	}
	return filepath.Join("..", "shared")
}

// run judges each named task and returns how many thresholds were missed. After a failure it
// goes on: the error names everything that failed.
func run(opt options, names []string) (failed int, err error) {
	reference, err := readThresholds()
	if err != nil {
		return 0, err
	}
	if data := filepath.Join(opt.shared, "data"); slices.ContainsFunc(names, needsData) {
		if _, err := os.Stat(data); err != nil {
			return 0, fmt.Errorf("%w: the tasks %s read public data, which datasets/README.md lists (set D3P_DATA to the folder that has them, or -shared to the one above it)", err, strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !needsData(n) }), ", "))
		}
	}
	work := opt.keep
	if work == "" {
		if work, err = os.MkdirTemp("", "d3p-experiments-"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(work)
	}
	report := newReport(os.Stdout)
	var failures []error
	for _, name := range names {
		task, ok := lookup(name)
		if !ok {
			return 0, fmt.Errorf("no task %q (have %s)", name, strings.Join(taskNames(), ", "))
		}
		err := task.judge(opt, reference, filepath.Join(work, name), report)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w (datasets/README.md lists where the files come from)", err)
		}
		if err != nil { // the other tasks go on
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
		}
	}
	return report.failed, errors.Join(append(failures, report.flush())...)
}
