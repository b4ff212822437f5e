package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/figure"
	"d3p/internal/status"
)

// plotKinds are the figures of `d3p plot`, each with the function that draws it.
func plotKinds() []plotKind {
	return []plotKind{
		{"intervals", func(f report.Findings) ([]figure.Figure, error) { return []figure.Figure{f.Intervals(600)}, nil }},
		{"trace", func(f report.Findings) ([]figure.Figure, error) {
			if f.Trace == nil {
				return nil, errors.New("the release has no trace.parquet")
			}
			return f.Iterates(), nil
		}},
		{"prior", func(f report.Findings) ([]figure.Figure, error) { return f.BeforeAndAfter(), nil }},
	}
}

type plotKind struct {
	name string
	draw func(report.Findings) ([]figure.Figure, error)
}

func newPlot(a *app) *cobra.Command {
	var kinds, formats []string
	var out string
	var known []string
	for _, k := range plotKinds() {
		known = append(known, k.name)
	}
	c := &cobra.Command{
		Use:   "plot RUN",
		Short: "Draw intervals, iterates, and prior against posterior",
		Long: `Plot writes figures to the new folder --out: intervals (50 % and 90 % of the
posterior), trace (the iterates of the parameters that end farthest from zero) and
prior (densities before and after the fit). It needs the release only.`,
		Example: "  d3p plot d3p-run-cohort-1 --out figures\n  d3p plot d3p-run-cohort-1 --kind intervals --format png --out figures",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.CheckWords("--kind", kinds, known); err != nil {
				return err
			}
			if err := flags.CheckWords("--format", formats, figure.Formats()); err != nil {
				return err
			}
			r, err := a.releases.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			findings, err := r.Findings()
			if err != nil {
				return err
			}
			var files []release.File
			for _, k := range plotKinds() {
				if !slices.Contains(kinds, k.name) {
					continue
				}
				drawn, err := k.draw(findings)
				if err != nil {
					return status.With(status.Numeric, fmt.Errorf("%s: %w", k.name, err))
				}
				page := figure.Page{Figures: drawn, Stamp: r.Params.Privacy}
				for _, format := range formats {
					files = append(files, release.File{Name: k.name + "." + format, Write: func(w io.Writer) error { return page.Write(w, format) }})
				}
			}
			return a.writeFiles(files, true, out)
		},
	}
	c.Flags().StringSliceVar(&kinds, "kind", known, "figures, separated by commas")
	c.Flags().StringSliceVar(&formats, "format", []string{"svg"}, "file formats, separated by commas: "+strings.Join(figure.Formats(), ", "))
	flags.CompleteWords(c, "kind", known)
	flags.CompleteWords(c, "format", figure.Formats())
	c.Flags().StringVar(&out, "out", "d3p-plots", "new `FOLDER` for the figures")
	a.unverifiedFlag(c)
	return c
}
