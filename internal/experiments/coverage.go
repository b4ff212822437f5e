package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/fit/plan"
	"d3p/internal/settings"
)

// coverageTask fits tables that a model draws from its own prior, and counts how many 90 %
// intervals hold the drawn parameters. Exact posteriors hold nine in ten. It needs no data,
// and the same seeds give the same numbers.
type coverageTask struct {
	fits   []coverageFit
	tables int // of each setting, without -tables
	// settings are the settings in options.
	settings func(opt options) ([]setup, error)
}

// coverageFit is a way to fit. A point has no intervals.
type coverageFit struct {
	name   string
	point  bool
	config plan.Config
}

// defaultFit is the default of d3p fit.
var defaultFit = coverageFit{name: "default", config: plan.Config{Table1: settings.Table1Default}}

// toolFits are the fits of users of other tools, beside ours under the relation of the
// Python package. The last is a point estimate by private Adam with flat clipping at 1.
var toolFits = []coverageFit{
	defaultFit,
	{name: "default, substitution", config: plan.Config{Neighbours: "substitute", Table1: settings.Table1Default}},
	{name: "Python d3p, substitution", config: plan.Config{Neighbours: "substitute", Compat: settings.CompatD3P}},
	{name: "private Adam, a point", point: true,
		config: plan.Config{Guide: "delta", Clipping: settings.ClippingFlat, ClipNorm: 1, Averaging: new(float64)}},
}

// The tasks are settings by the defaults, the same settings by other tools, and the model
// of the example data set.
var (
	priorCoverage  = coverageTask{fits: []coverageFit{defaultFit}, tables: 20, settings: regressionSetups}
	toolCoverage   = coverageTask{fits: toolFits, tables: 20, settings: regressionSetups}
	cohortCoverage = coverageTask{fits: []coverageFit{defaultFit}, tables: 24, settings: cohortSetups}
)

// judge implements experiment.
func (c coverageTask) judge(opt options, _ []threshold, dir string, out *report) error {
	settings, err := c.settings(opt)
	if err != nil {
		return err
	}
	tables := c.tables
	if opt.tables > 0 {
		tables = opt.tables
	}
	for _, f := range c.fits {
		var whole scores // of all settings of a model
		for i, s := range settings {
			got, err := s.run(f.config, tables, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", s.label(), err)
			}
			if err := appendScores(opt.scores, s, f, got); err != nil {
				return err
			}
			one := scores{settings: [][]tableScores{got}}
			one.report(out, s.label(), s.epsilonLabel(), f)
			whole.settings = append(whole.settings, got)
			if i+1 < len(settings) && settings[i+1].name == s.name {
				continue
			}
			if len(whole.settings) > 1 {
				whole.report(out, s.name, "all", f)
			}
			whole = scores{}
		}
	}
	return nil
}

// numbers are the comma-separated numbers of text, or of missing if it is empty.
func numbers(text, missing string) ([]float64, error) {
	var list []float64
	for _, word := range strings.Split(cmp.Or(text, missing), ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number (type for instance %s)", word, missing)
		}
		list = append(list, x)
	}
	return list, nil
}

// asked reports whether a comma-separated list names name. An empty list names all.
func asked(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}
