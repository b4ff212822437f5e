package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/released"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/effects"
	"d3p/internal/models/data"
	"d3p/internal/predict"
	"d3p/internal/privacy/noise"
	"d3p/internal/release"
	"d3p/internal/report/figure"
	"d3p/internal/status"
	"d3p/internal/table1"
)

// effectsSettings are the effects to compute, and their output.
type effectsSettings struct {
	effects.Config
	out, format string
	draws       int
	prob        float64
	seed        uint64
}

// effectsResult is the JSON form of `d3p effects`.
type effectsResult struct {
	Run     string           `json:"run"`
	Prob    float64          `json:"prob"`
	Rows    string           `json:"rows"` // what the simulated rows follow
	Effects []effects.Effect `json:"effects"`
}

func newEffects(a *app) *cobra.Command {
	var s effectsSettings
	c := &cobra.Command{
		Use:   "effects RUN",
		Short: "Print the expected response as one column varies",
		Long: `Effects sets one predictor to a value in many simulated rows, averages the expected
response over them, and goes through the values of the predictor. It prints contrasts
of these averages: each level with the reference level, the upper quartile of a number
with the lower one. Of a category as response these are the probabilities of its levels.

The rows follow Table 1 if the fit bought it, else the declarations. The intervals leave
out the noise of Table 1; a last line has the limits of the quartiles. --out writes
averages.csv, contrasts.csv and a figure for each effect.

Effects needs the release only and costs no privacy. It describes the model's
expectation, which is a causal effect only if the model has every common cause of the
column and the response.`,
		Example: "  d3p effects d3p-run-cohort-1\n  d3p effects d3p-run-cohort-1 --columns age,smoker --out effects",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := released.CheckDraws(s.draws); err != nil {
				return err
			}
			if err := checkProb(s.prob); err != nil {
				return err
			}
			if s.Rows < 1 || s.Values < 2 {
				return status.Usagef("--rows, --values: at least 1 row and 2 values are needed")
			}
			if err := flags.CheckWords("--format", []string{s.format}, figure.Formats()); err != nil {
				return err
			}
			return a.effects(c, args[0], s)
		},
	}
	c.Flags().StringSliceVar(&s.Columns, "columns", nil, "predictors, separated by commas (default all)")
	c.Flags().StringVar(&s.out, "out", "", "new `FOLDER` for tables and figures")
	c.Flags().StringVar(&s.format, "format", "svg", "of the figures: svg or png")
	flags.CompleteWords(c, "format", figure.Formats())
	c.Flags().IntVar(&s.Rows, "rows", 500, "simulated rows to average over")
	c.Flags().IntVar(&s.Values, "values", 21, "values of a number on its grid")
	c.Flags().IntVar(&s.draws, "draws", 500, "draws of the posterior")
	c.Flags().Float64Var(&s.prob, "prob", usualProb, "probability of the intervals: 0.95 gives q2.5 and q97.5")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "seed of draws and rows, which is public")
	a.unverifiedFlag(c)
	return c
}

// effects computes and writes effects.
func (a *app) effects(c *cobra.Command, folder string, s effectsSettings) error {
	r, err := a.releases.Read(c.Context(), folder)
	if err != nil {
		return err
	}
	law, err := table1.LawOf(r.Privacy.Table1, &r.Model.Spec.Data)
	if err != nil {
		return status.With(status.Usage, fmt.Errorf("%s: %w", folder, err))
	}
	public := noise.Public(s.seed)
	a.noteOfPoint(r)
	list, err := effects.Of(r.Model, law, r.Predictive(s.draws, s.prob, public), s.Config, noise.NewRandom(public.Stream(noise.Simulation)))
	if err != nil {
		return status.Usagef("--columns: %v", err)
	}
	rows := rowsOf(list, r.Privacy.Table1, &r.Model.Spec.Data)
	if s.out == "" {
		return a.result(effectsResult{folder, s.prob, rows, list}, func(w io.Writer) {
			printContrasts(w, list, s.prob)
			fmt.Fprintln(w, rows)
		})
	}
	a.notef("%s", rows)
	banner := r.Params.Privacy
	files := []release.File{
		{Name: "averages.csv", Write: func(w io.Writer) error { return effects.WriteAverages(w, list, s.prob, banner) }},
		{Name: "contrasts.csv", Write: func(w io.Writer) error { return effects.WriteContrasts(w, list, s.prob, banner) }},
	}
	figures := make(map[string][]figure.Figure)
	var names []string
	for _, e := range list {
		if figures[e.Column] == nil {
			names = append(names, e.Column)
		}
		figures[e.Column] = append(figures[e.Column], e.Figure(s.prob))
	}
	for i, name := range names {
		page := figure.Page{Figures: figures[name], Stamp: banner}
		files = append(files, release.File{Name: fmt.Sprintf("effect-%d.%s", i+1, s.format), Write: func(w io.Writer) error { return page.Write(w, s.format) }})
	}
	return a.writeFiles(files, true, s.out)
}

// rowsOf describes the simulated rows: with a bought Table 1 its noise, which no interval
// contains, as the limits of the quartiles that are compared.
func rowsOf(list []effects.Effect, bought []table1.Row, d *data.Data) string {
	if len(bought) == 0 {
		return "the rows follow the declarations of the columns: the fit bought no Table 1"
	}
	limits := func(column string, s table1.Statistic) string {
		at := slices.IndexFunc(bought, func(r table1.Row) bool {
			return r.Column == column && r.Statistic == s && r.Low != nil && r.High != nil
		})
		if at < 0 {
			return ""
		}
		low, high := *bought[at].Low, *bought[at].High
		if c := d.Column(column); c.Type.V == data.Date {
			return c.Cell(low) + " to " + c.Cell(high)
		}
		return fmt.Sprintf("%.4g to %.4g", low, high)
	}
	var compared []string
	for _, e := range list {
		from, to := limits(e.Column, table1.Quartile1), limits(e.Column, table1.Quartile3)
		if !e.Number || from == "" || to == "" || e.Changes[0].From == e.Points[0].Label { // the ends of the grid, in place of equal quartiles
			continue
		}
		if words := fmt.Sprintf("%s %s -> %s", e.Column, from, to); !slices.Contains(compared, words) {
			compared = append(compared, words)
		}
	}
	words := "the rows follow Table 1: the intervals leave out its noise"
	if len(compared) > 0 {
		words += ", which puts the quartiles compared within: " + strings.Join(compared, "; ")
	}
	return words
}

// printContrasts prints the contrasts of effects as a table.
func printContrasts(w io.Writer, list []effects.Effect, prob float64) {
	low, high := predict.QuantileNames(prob)
	t := terminal.Columns{W: w, Right: []int{3, 4, 5, 6, 7}}
	t.Line(terminal.Cells{"column", "change", "outcome", "from", "to", "difference", low, high})
	for _, e := range list {
		for _, c := range e.Changes {
			line := terminal.Cells{e.Column, c.From + " -> " + c.To, e.Outcome}
			for _, x := range []float64{c.Against, c.Mean, c.Difference.Mean, c.Difference.Lower, c.Difference.Upper} {
				line = append(line, strconv.FormatFloat(x, 'g', 4, 64))
			}
			t.Line(line)
		}
	}
	t.Print()
}
