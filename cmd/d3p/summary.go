package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/released"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
	"d3p/internal/spell"
	"d3p/internal/status"
	"d3p/internal/verdict"
)

// summaryResult is the JSON form of `d3p summary`.
type summaryResult struct {
	Run     string            `json:"run"`
	Model   string            `json:"model"`
	Claim   string            `json:"claim"`
	Prob    float64           `json:"prob,omitempty"`         // of the intervals lower to upper; 0 if there are no such intervals
	Ratio   string            `json:"exponentiate,omitempty"` // the meaning of exp(coefficient), if shown
	Summary []outputs.Summary `json:"summary"`
}

// summarySettings are the parts of a posterior to summarise, and the form.
type summarySettings struct {
	released.Drawn
	ratios, raw bool
	prob        float64
}

func newSummary(a *app) *cobra.Command {
	var s summarySettings
	c := &cobra.Command{
		Use:   "summary RUN",
		Short: "Print the posterior of a finished fit",
		Long: `Summary prints mean, standard deviation and the 5 % to 95 % interval of every
parameter, the part of its variance that the privacy noise causes, and a verdict on
its interval, with the reason if it is not resolved. It needs the release only and
costs no privacy.

--raw prints coefficients in the unit of the data file instead of the declared
scales. --exponentiate prints exp of the coefficients, and says what they are: odds
ratios of a logistic regression, rate ratios of counts, ratios of times of weibull,
hazard ratios of gompertz and piecewise_exponential.`,
		Example: `  d3p summary d3p-run-cohort-1
  d3p summary d3p-run-cohort-1 --raw --prob 0.95
  d3p summary d3p-run-cohort-1 --exponentiate --prob 0.95
  d3p summary d3p-run-cohort-1/release --json`,
		Args: exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkProb(s.prob); err != nil {
				return err
			}
			r, err := a.releases.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			if s.Drawn, err = s.OrOf(c, r); err != nil {
				return err
			}
			result, err := summarise(r, s)
			if err != nil {
				return err
			}
			return a.result(result, func(w io.Writer) {
				shown := view{prob: s.prob, raw: s.raw, ratio: result.Ratio, single: plan.Single(r.Privacy.Mechanism.Clip.Mode), judged: judged(result.Summary), why: true}
				printSummary(w, result.Summary, shown)
				fmt.Fprintf(w, "\n%s\n\nClaim: %s\n", explain(r.Model, shown), result.Claim)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&s.ratios, "exponentiate", false, "exp of the coefficients: ratios of odds, rates, times or hazards")
	f.BoolVar(&s.raw, "raw", false, "coefficients in the unit of the data file")
	f.Float64Var(&s.prob, "prob", usualProb, "probability of the interval: 0.95 is 2.5 % to 97.5 %")
	s.Drawn.Flags(c)
	a.unverifiedFlag(c)
	return c
}

// summarise summarises the posterior of a release by the settings s.
func summarise(r *released.Release, s summarySettings) (*summaryResult, error) {
	result := &summaryResult{Run: r.Dir, Model: r.Params.Model, Claim: r.Privacy.Statements.OneLine}
	draws, _, _, err := r.Judged(s.Drawn)
	if err != nil {
		return nil, err
	}
	if s.ratios {
		formula := r.Model.Spec.Model
		if formula == nil {
			return nil, status.Usagef("--exponentiate: the model has no formula, so d3p cannot tell which parameters are coefficients (d3p draws %s writes all)", spell.Word(r.Dir))
		}
		if result.Ratio = formula.Ratio(); result.Ratio == "" {
			return nil, status.Usagef("--exponentiate: exp of a coefficient has no meaning under the link of this model (leave --exponentiate out)")
		}
		draws = draws.Ratios()
	}
	result.Summary = draws.Summarise()
	if s.prob != usualProb {
		result.Prob = s.prob
		draws.Bound(result.Summary, s.prob)
	}
	if s.raw {
		rows, any := outputs.InFileUnits(result.Summary)
		if !any {
			return nil, status.Usagef("--raw: the release has no coefficients in another unit than those that d3p summary %s shows", spell.Word(r.Dir))
		}
		result.Summary = rows
	}
	return result, nil
}

// explain explains the numbers of the table.
func explain(m *models.Model, v view) string {
	points := outputs.PointScalars(m)
	if points == m.P {
		return fmt.Sprintf("The posterior is a point: %d weights of networks, in %s.", points, outputs.WeightsName)
	}
	ratios := ""
	low, high := tails(v.prob)
	if v.ratio != "" {
		ratios = " of exp of the coefficients"
	}
	text := fmt.Sprintf("%s, sd and %s to %s describe the posterior%s; noise is the part of its variance that the privacy noise adds.", v.center(), low, high, ratios)
	switch v.single {
	case "draw":
		text = fmt.Sprintf("Each number is%s one draw of the posterior. Nothing else about it was released, so it has no interval.", ratios)
	case "estimate":
		text = fmt.Sprintf("Each number is an estimate%s with privacy noise. It has no posterior, so it has no interval.", ratios)
	}
	if v.judged && v.single == "" {
		text += "\nMay you use an interval? resolved: yes; partly: with the reason in mind; not: no. A verdict does not say whether an effect is 0."
	}
	if v.ratio != "" {
		text += fmt.Sprintf("\nEach is the %s for one unit more, or for a level against the reference; that of the intercept, or baseline, is the value where all predictors are 0.", v.ratio)
	}
	scales := scalesOf(m)
	switch {
	case v.raw:
		text += "\nCoefficients are per unit of the data file, transformed if the column has a transform."
		if kept := onScales(m); len(kept) > 0 {
			text += fmt.Sprintf("\nStill on the declared scales: %s (%s).", strings.Join(kept, ", "), strings.Join(scales, ", "))
		}
	case len(scales) > 0:
		text += "\nCoefficients are on the declared scales: " + strings.Join(scales, ", ") + "."
	}
	if ones := onesOf(m); len(ones) > 0 {
		text += "\nOf two levels the second one counts as 1: " + strings.Join(ones, ", ") + "."
	}
	if raw := inFileUnits(m); len(raw) > 0 && !v.raw {
		text += fmt.Sprintf("\nIn the unit of the data file, by d3p summary --raw and in summary.csv: %s.", strings.Join(raw, ", "))
	}
	if points > 0 {
		text += fmt.Sprintf("\nThe %d weights of networks are points, in %s.", points, outputs.WeightsName)
	}
	return text
}

// onesOf names the level that counts as 1 of each binary column in use, unless the level
// makes it plain.
func onesOf(m *models.Model) (ones []string) {
	for _, f := range m.Encoding.Fields {
		if f.Type == data.Binary && f.Kind == encoding.LevelCode && f.Levels[1] != "1" {
			ones = append(ones, f.Column+" "+f.Levels[1])
		}
	}
	return ones
}

// onScales lists the variables that stay on the declared scales when coefficients are in
// the unit of the data file.
func onScales(m *models.Model) (names []string) {
	if m.Spec.Model == nil {
		return nil
	}
	has := map[string]bool{}
	for _, list := range [][]models.Param{m.Params, m.Derived} {
		for i := range list {
			has[list[i].Name] = true
		}
	}
	for _, name := range m.Spec.Model.OnScales(&m.Spec.Data) {
		if has[name] && !has[naming.Raw(name)] {
			names = append(names, name)
		}
	}
	return names
}

// inFileUnits lists the derived variables in the unit of the data file.
func inFileUnits(m *models.Model) (names []string) {
	for i := range m.Derived {
		if _, raw := naming.OnScale(m.Derived[i].Name); raw {
			names = append(names, m.Derived[i].Name)
		}
	}
	return names
}

// scalesOf lists the declared scales of columns, except counts, exposures and times,
// which the model reads in the unit of the file.
func scalesOf(m *models.Model) (scales []string) {
	scaled := map[string]bool{}
	for _, f := range m.Encoding.Fields {
		if f.Kind == encoding.Numeric && f.Scale != 0 && (f.Scale != 1 || f.Center != 0) {
			scaled[f.Column] = true
		}
	}
	add := func(name string, c *data.Column) {
		center, by := c.Scale()
		switch {
		case !scaled[c.HeaderName()]:
		case c.Type.V == data.Date:
			scales = append(scales, fmt.Sprintf("%s per %.4g days from %s", name, by, data.FormatDay(c.Day(center))))
		case c.Transform.IsSet():
			scales = append(scales, fmt.Sprintf("%s(%s) per %.4g from %.4g", c.Transform.V, name, by, center))
		default:
			scales = append(scales, fmt.Sprintf("%s per %.4g from %.4g", name, by, center))
		}
	}
	for _, c := range slices.Concat(m.Spec.Data.Columns, m.Spec.Data.Derived) {
		add(c.Name.V, c)
	}
	for _, t := range m.Spec.Data.Tensors {
		if !t.Sequence() {
			add(t.Name.V, t.Columns[0])
		}
	}
	return scales
}

// maxRows bounds the table at the end of a fit; summary.csv has every row.
const maxRows = 40

// usualProb is the probability of the intervals of tables, q5 to q95.
const usualProb = 0.9

// checkProb refuses a --prob outside (0, 1).
func checkProb(prob float64) error {
	if !(prob > 0 && prob < 1) {
		return status.Usagef("--prob: %v is not between 0 and 1", prob)
	}
	return nil
}

// A view is the form in which a table shows a posterior.
type view struct {
	prob   float64 // of the intervals
	raw    bool    // coefficients are in the unit of the data file
	single string  // what the release has in place of a posterior, see plan.Single
	ratio  string  // the meaning of exp(coefficient), if shown; ""
	judged bool    // the rows have verdicts
	why    bool    // their reasons are shown
}

// judged reports whether rows have verdicts.
func judged(rows []outputs.Summary) bool { return len(rows) > 0 && rows[0].Verdict != nil }

// center is the middle of a posterior: the mean, or the median for ratios, which are
// skewed.
func (v view) center() string {
	if v.ratio != "" {
		return "median"
	}
	return "mean"
}

// printSummary prints the posterior without the rows that report.Shown leaves out. Rows
// without other ends of their interval have q5 to q95.
func printSummary(w io.Writer, rows []outputs.Summary, v view) {
	if len(rows) == 0 {
		return // the posterior is a point
	}
	t := terminal.Columns{W: w, Right: []int{1, 2, 3, 4, 5}}
	low, high := tails(v.prob)
	head := terminal.Cells{"parameter", v.center(), "sd", low, high, "noise"}
	switch {
	case v.single != "":
		head = terminal.Cells{"parameter", v.single}
	case v.judged:
		head = append(head, "verdict")
	}
	t.Line(head)
	rows = outputs.WithoutRepetitions(rows)
	for _, r := range rows[:min(len(rows), maxRows)] {
		share, lower, upper := "", r.Q5, r.Q95
		if r.NoiseShare != nil && *r.NoiseShare > 0 {
			share = fmt.Sprintf("%.0f %%", 100**r.NoiseShare)
		}
		if r.Lower != nil {
			lower, upper = *r.Lower, *r.Upper
		}
		middle := r.Mean
		if v.ratio != "" {
			middle = r.Median
		}
		line := terminal.Cells{r.Variable, number3(middle), number3(r.SD), number3(lower), number3(upper), share}
		switch {
		case v.single != "":
			line = line[:2]
		case v.judged && v.why && r.Why != "":
			line = append(line, r.Verdict.Value+": "+r.Why)
		case v.judged:
			line = append(line, r.Verdict.Value)
		}
		t.Line(line)
	}
	t.Print()
	if hidden := len(rows) - maxRows; hidden > 0 {
		fmt.Fprintf(w, "and %d more in summary.csv\n", hidden)
	}
}

// tails names the ends of a central interval of probability prob.
func tails(prob float64) (low, high string) {
	return fmt.Sprintf("%.4g %%", 50*(1-prob)), fmt.Sprintf("%.4g %%", 50*(1+prob))
}

// number3 prints three decimals, or three digits if the decimals would all be 0.
func number3(x float64) string {
	if x != 0 && (x < 0.001 && x > -0.001 || x >= 1e6 || x <= -1e6) {
		return fmt.Sprintf("%.2e", x)
	}
	return fmt.Sprintf("%.3f", x)
}

// verdictWords is the verdict on the whole fit, one reason per line, and how to lessen noise that hides a
// parameter.
func verdictWords(v outputs.Verdict, rows []outputs.Summary) string {
	words := map[string]string{outputs.Resolved: "resolved", outputs.Partly: "partly resolved", outputs.Not: "NOT RESOLVED"}[v.Value]
	if v.Why == "" {
		return "Statistics: " + words
	}
	text := "Statistics: " + words + " (" + strings.ReplaceAll(v.Why, "; ", ";\n  ") + ")"
	if v.Value == outputs.Resolved {
		return text
	}
	text += "\n  d3p summary and summary.csv give the reason for each parameter"
	if slices.ContainsFunc(rows, noisy) {
		text += "\n  less noise: a larger epsilon, more records, declared scales, narrower bounds or fewer predictors; d3p plan costs nothing"
	}
	return text
}

// noisy reports whether privacy noise is the reason against a variable.
func noisy(r outputs.Summary) bool {
	return r.Verdict != nil && r.Why != "" && r.NoiseShare != nil && r.Why == verdict.OfNoise(*r.NoiseShare).Why
}
