package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"d3p/internal/report"
)

// summaryResult is the JSON form of `d3p summary`.
type summaryResult struct {
	Run     string           `json:"run"`
	Model   string           `json:"model"`
	Claim   string           `json:"claim"`
	Prob    float64          `json:"prob,omitempty"`         // of the intervals lower to upper; 0: there are none
	Ratio   string           `json:"exponentiate,omitempty"` // what exp of the coefficients is, when that is shown
	Summary []report.Summary `json:"summary"`
}

// summarySettings say what of a posterior is summarised, and how.
type summarySettings struct {
	drawn
	ratios, raw bool
	prob        float64
}

func newSummary(a *app) *cobra.Command {
	var s summarySettings
	c := &cobra.Command{
		Use:   "summary RUN",
		Short: "Print the posterior of a finished fit",
		Long: `Summary prints mean, standard deviation and the 5 % to 95 % interval of every
parameter, and the part of its variance that the privacy noise causes. It needs the
release only and costs no privacy.

--raw prints coefficients in the unit of the data file instead of the declared
scales. --exponentiate prints exp of the coefficients: odds ratios of a logistic
regression, rate ratios of counts, hazard ratios.`,
		Example: `  d3p summary d3p-run-cohort-1
  d3p summary d3p-run-cohort-1 --raw --prob 0.95
  d3p summary d3p-run-cohort-1 --exponentiate --prob 0.95
  d3p summary d3p-run-cohort-1/release --json`,
		Args: exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkProb(s.prob); err != nil {
				return err
			}
			r, err := a.readReleased(c.Context(), args[0])
			if err != nil {
				return err
			}
			if s.drawn, err = s.orOf(c, r); err != nil {
				return err
			}
			result, err := summarise(r, s)
			if err != nil {
				return err
			}
			return a.result(result, func(w io.Writer) {
				shown := view{prob: s.prob, raw: s.raw, ratio: result.Ratio}
				printSummary(w, result.Summary, shown)
				fmt.Fprintf(w, "\n%s\n\nClaim: %s\n", explain(r.model, shown), result.Claim)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&s.ratios, "exponentiate", false, "exp of the coefficients: odds, rate or hazard ratios")
	f.BoolVar(&s.raw, "raw", false, "coefficients in the unit of the data file")
	f.Float64Var(&s.prob, "prob", usualProb, "probability of the interval: 0.95 is 2.5 % to 97.5 %")
	s.flags(c)
	a.unverifiedFlag(c)
	return c
}

// summarise summarises the posterior of a release as s says.
func summarise(r *released, s summarySettings) (*summaryResult, error) {
	result := &summaryResult{Run: r.dir, Model: r.params.Model, Claim: r.privacy.Statements.OneLine}
	draws := r.draws(s.drawn)
	if s.ratios {
		formula := r.model.Spec.Model
		if formula == nil {
			return nil, usagef("--exponentiate: the model has no formula, so nothing says which parameters are coefficients (d3p draws %s writes all)", r.dir)
		}
		if result.Ratio = formula.Ratio(); result.Ratio == "" {
			return nil, usagef("--exponentiate: exp of a coefficient means nothing under the link of this model (leave --exponentiate out)")
		}
		draws = draws.Ratios()
	}
	result.Summary = draws.Summarise()
	if s.prob != usualProb {
		result.Prob = s.prob
		draws.Bound(result.Summary, s.prob)
	}
	if s.raw {
		rows, any := report.InFileUnits(result.Summary)
		if !any {
			return nil, usagef("--raw: the release has no coefficients in another unit than those that d3p summary %s shows", r.dir)
		}
		result.Summary = rows
	}
	return result, nil
}

// flags defines which draws a command takes.
func (d *drawn) flags(c *cobra.Command) {
	c.Flags().IntVar(&d.n, "draws", 0, "posterior draws to take (default as many as the fit)")
	c.Flags().Uint64Var(&d.seed, "seed", 0, "seed of the draws, which is public (default that of the fit)")
}

// orOf is what the flags ask for, or else what the fit of a release took.
func (d drawn) orOf(c *cobra.Command, r *released) (drawn, error) {
	if !c.Flags().Changed("seed") {
		d.seed = r.drawn.seed
	}
	switch {
	case !c.Flags().Changed("draws"):
		d.n = r.drawn.n
	default:
		return d, checkDraws(d.n)
	}
	return d, nil
}

func checkDraws(draws int) error {
	if draws < 2 {
		return usagef("--draws: %d is less than 2", draws)
	}
	return nil
}
