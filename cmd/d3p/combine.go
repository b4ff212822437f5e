package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/outputs"
	"d3p/internal/report"
	"d3p/internal/stats"
	"d3p/internal/status"
	"d3p/internal/synthesis"
	"d3p/internal/verdict"
)

// combinedEstimate is a quantity in the JSON form of `d3p combine`.
type combinedEstimate struct {
	Term     string  `json:"term"`
	Estimate float64 `json:"estimate"`
	Error    float64 `json:"std_error"`
	Q5       float64 `json:"q5"`
	Q95      float64 `json:"q95"`
	DF       float64 `json:"df"`
	Noise    float64 `json:"noise"` // the part of the variance that is due to privacy noise
	Verdict  string  `json:"verdict"`
	Floored  bool    `json:"floored"` // the variance would have been negative
}

func newCombine(a *app) *cobra.Command {
	var ratio float64
	var twin string
	c := &cobra.Command{
		Use:   "combine ESTIMATES ESTIMATES...",
		Short: "Combine estimates from the tables of d3p twin --separate",
		Long: `Combine reads estimates from synthetic tables, one file per table and one line per
quantity. It prints one estimate per quantity with an interval that includes the
uncertainty of the private fit. Files are CSV with the columns term, estimate and
std.error, as broom::tidy of R writes them (variable or name, mean, sd or se are
also read). A run of d3p stands for its summary.csv.

The variance is (1 + 1/m) b - u for m tables, where b is the variance of the
estimates and u their mean squared standard error (Raghunathan, Reiter and Rubin
2003). Rubin's rule for missing values, u + (1 + 1/m) b, would count the sampling of
records twice. If b - u is negative, combine uses u times --ratio and notes it; use
at least 20 tables.

Noise is the part of the variance that is privacy noise; the verdict follows from it as
in a fit: not resolved above 95 %, partly above 50 %. --twin names the run that drew the
tables: if their relations are shrunk, combine calls nothing resolved, and if their
counts are noisy at most partly; it warns of both. Without --twin it can check neither.`,
		Example: "  d3p combine fit-1.csv fit-2.csv fit-3.csv",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return status.Usagef("%s: %d file; the spread of the estimates needs at least 2 tables, and 20 are better", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !(ratio > 0) || math.IsInf(ratio, 1) {
				return status.Usagef("--ratio: %v is not a finite number > 0", ratio)
			}
			result, err := a.combineFiles(c.Context(), args, ratio)
			if err != nil {
				return status.With(status.Data, err)
			}
			if err := a.limit(c.Context(), result, twin); err != nil {
				return err
			}
			return a.result(result, func(w io.Writer) { printCombined(w, result, len(args)) })
		},
	}
	c.Flags().Float64Var(&ratio, "ratio", 1, "rows of a synthetic table over records behind the fit")
	c.Flags().StringVar(&twin, "twin", "", "the `RUN` that drew the tables, so that verdicts count shrunk relations")
	a.unverifiedFlag(c)
	return c
}

// limit lowers the verdicts, and warns, if intervals from the tables of this run do not
// hold. Without a run it warns that it cannot know.
func (a *app) limit(ctx context.Context, list []combinedEstimate, run string) error {
	if run == "" {
		a.warnf("verdicts count noise alone: in a table of many columns relations may be shrunk, so that intervals miss the truth (name the run that drew the tables: --twin RUN)")
		return nil
	}
	r, err := a.releases.ReadAny(ctx, run)
	if err != nil {
		return err
	}
	if r.Marginals == nil {
		return status.Usagef("--twin: %s has no twin by marginals: leave --twin out", run)
	}
	limits, err := synthesis.LimitsOf(r.Marginals, r.Model)
	if err != nil {
		return status.With(status.Spec, fmt.Errorf("%s: %w", report.MarginalsName, err))
	}
	for i := range list {
		switch {
		case limits.Shrunk:
			list[i].Verdict = outputs.Not
		case limits.Noise > noisyCounts && list[i].Verdict == outputs.Resolved:
			list[i].Verdict = outputs.Partly
		}
	}
	a.warnOfLimits("--twin", limits)
	return nil
}

// combineFiles combines the quantities that all files have, in the order of the first file.
func (a *app) combineFiles(ctx context.Context, paths []string, ratio float64) ([]combinedEstimate, error) {
	var terms []string
	of := map[string][]stats.Estimate{}
	for i, path := range paths {
		names, estimates, err := a.readEstimates(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if i == 0 {
			terms = names
		}
		for j, name := range names {
			of[name] = append(of[name], estimates[j])
		}
	}
	var list []combinedEstimate
	for _, term := range terms {
		if n := len(of[term]); n != len(paths) {
			return nil, fmt.Errorf("%s: %d of %d files have it once (each must have the same quantities)", term, n, len(paths))
		}
		c := stats.CombineSynthetic(of[term], ratio)
		half := c.Error * distuv.StudentsT{Sigma: 1, Nu: c.DF}.Quantile(0.95)
		list = append(list, combinedEstimate{term, c.Value, c.Error, c.Value - half, c.Value + half, c.DF, c.Noise, verdict.OfNoise(c.Noise).Value, c.Floored})
	}
	return list, nil
}

// readEstimates reads a file of estimates, or the summary of a run.
func (a *app) readEstimates(ctx context.Context, path string) (names []string, estimates []stats.Estimate, err error) {
	var file io.Reader
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		release, err := a.releases.Open(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		defer release.Close()
		summary, err := release.ReadFile(outputs.SummaryName)
		if err != nil {
			return nil, nil, err
		}
		file = bytes.NewReader(summary)
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, errors.New("no such file, and no run of d3p")
		}
		defer f.Close()
		file = f
	}
	r := csv.NewReader(file)
	r.Comment = '#' // a run without privacy has NOT PRIVATE there
	lines, err := r.ReadAll()
	if err != nil || len(lines) < 2 {
		return nil, nil, errors.New("no CSV table with a line for each quantity")
	}
	var at [3]int
	for i, words := range [3][]string{{"term", "variable", "name", "parameter"}, {"estimate", "mean", "coef"}, {"std.error", "std_error", "se", "sd"}} {
		at[i] = slices.IndexFunc(lines[0], func(h string) bool {
			return slices.Contains(words, strings.ToLower(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))))
		})
		if at[i] < 0 {
			return nil, nil, fmt.Errorf("no column %s", strings.Join(words, ", "))
		}
	}
	if share := slices.Index(lines[0], "dp_noise_share"); share >= 0 {
		for _, line := range lines[1:] {
			if x, err := strconv.ParseFloat(line[share], 64); err == nil && x > 0 {
				return nil, nil, errors.New("a private fit, of records: combine takes estimates from synthetic tables (d3p twin --separate), each fitted by d3p fit-nonprivate or another program")
			}
		}
	}
	for i, line := range lines[1:] {
		value, err := strconv.ParseFloat(line[at[1]], 64)
		spread, err2 := strconv.ParseFloat(line[at[2]], 64)
		if err = errors.Join(err, err2); err != nil || !(spread >= 0) || value-value != 0 || math.IsInf(spread, 1) {
			return nil, nil, fmt.Errorf("line %d: the estimate and its standard error must be finite numbers", i+2)
		}
		names, estimates = append(names, line[at[0]]), append(estimates, stats.Estimate{Value: value, Error: spread})
	}
	return names, estimates, nil
}

func printCombined(w io.Writer, list []combinedEstimate, tables int) {
	width := len("term")
	for _, c := range list {
		width = max(width, len(c.Term))
	}
	fmt.Fprintf(w, "%-*s  %9s  %9s  %9s  %9s  %5s  %s\n", width, "term", "estimate", "se", "5 %", "95 %", "noise", "verdict")
	var floored []string
	for _, c := range list {
		fmt.Fprintf(w, "%-*s  %9.4g  %9.4g  %9.4g  %9.4g  %3.0f %%  %s\n", width, c.Term, c.Estimate, c.Error, c.Q5, c.Q95, 100*c.Noise, c.Verdict)
		if c.Floored {
			floored = append(floored, c.Term)
		}
	}
	fmt.Fprintf(w, "\n%d synthetic tables; the uncertainty of the fit behind them is counted. Noise is the part of the variance that is privacy noise.\n", tables)
	if len(floored) > 0 {
		fmt.Fprintf(w, "Too few tables for %s: the spread of its estimates is below their standard errors, which d3p uses instead.\n", strings.Join(floored, ", "))
	}
}
