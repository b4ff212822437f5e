package accounting

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/report/figure"
	"d3p/internal/status"
)

// riskEntry is an attacker's success; every rate is an upper bound.
type riskEntry struct {
	Advantage float64            `json:"advantage"`
	Mu        float64            `json:"dominating_mu"`
	Regret    float64            `json:"regret"`
	From      float64            `json:"mu_from_delta,omitempty"` // of Mu; absent: 1e-10
	TPR       map[string]float64 `json:"tpr_at_fpr"`
	Belief    []report.Belief    `json:"posterior_belief"`
	Curve     []report.Point     `json:"curve"`
}

// RiskOptions are the outputs about an attacker: numbers, a figure, a table of curves.
type RiskOptions struct {
	Risk        bool
	Plot, Curve string // files; "" for none
}

// AddRisk computes the requested curve and draws it.
func (r *Answer) AddRisk(ev event.Event, rel event.Relation, o RiskOptions) error {
	if o == (RiskOptions{}) {
		return nil
	}
	format := strings.TrimPrefix(filepath.Ext(o.Plot), ".")
	if o.Plot != "" && !slices.Contains(figure.Formats(), format) {
		return status.Usagef("--plot: %s: name the figure .%s", o.Plot, strings.Join(figure.Formats(), " or ."))
	}
	c, err := accountant.NewCurve(ev, rel)
	if err != nil {
		return err
	}
	r.Risk = riskOf(c)
	if o.Plot != "" {
		var b bytes.Buffer
		page, err := report.CurvePage(c, report.Point{Epsilon: r.EpsilonUpper, Delta: r.Delta})
		if err == nil {
			err = page.Write(&b, format)
		}
		if err == nil {
			err = outfile.Write(o.Plot, b.Bytes())
		}
		if err != nil {
			return status.With(status.Numeric, err)
		}
	}
	if o.Curve != "" {
		return status.With(status.Numeric, writeCurves(o.Curve, c, ev, rel))
	}
	return nil
}

func riskOf(c *accountant.Curve) *riskEntry {
	r := report.RiskOf(c)
	e := &riskEntry{Advantage: r.Advantage, TPR: r.TPRAtFPR}
	g := report.GDPOf(c)
	e.Mu, e.Regret, e.From = g.Mu, g.Regret, g.From
	for _, belief := range r.Belief {
		if belief.AtFPR == 0.01 {
			e.Belief = append(e.Belief, belief)
		}
	}
	for delta := 1e-2; delta > 1e-13; delta /= 10 {
		delta := math.Pow(10, math.Round(math.Log10(delta)))
		if eps := c.Epsilon(delta); !math.IsInf(eps, 1) {
			e.Curve = append(e.Curve, report.Point{Epsilon: eps, Delta: delta})
		}
	}
	return e
}

func (e *riskEntry) print(w io.Writer) {
	from := ""
	if e.From > 0 {
		from = fmt.Sprintf(" from delta %.2g on", e.From)
	}
	fmt.Fprintf(w, "attacker: advantage <= %s; covered%s by mu-GDP with mu = %s (regret %s)\n", terminal.AtMost(e.Advantage), from, terminal.AtMost(e.Mu), terminal.AtMost(e.Regret))
	for _, fpr := range []string{"0.001", "0.01", "0.05", "0.1"} {
		fmt.Fprintf(w, "  true-positive rate <= %s at false-positive rate %s\n", terminal.AtMost(e.TPR[fpr]), fpr)
	}
	for _, b := range e.Belief {
		fmt.Fprintf(w, "  belief from %v to at most %s at false-positive rate %v\n", b.Prior, terminal.AtMost(b.MaxPosterior), b.AtFPR)
	}
}

// writeCurves writes the curves of a ledger as a CSV file with the columns curve, x and y,
// one point per line. Every point bounds the attacker:
//
//	privacy   epsilon, delta
//	tradeoff  false-positive rate, least false-negative rate of any test
//	renyi     order, divergence; absent where it is infinite or not known
func writeCurves(path string, c *accountant.Curve, ev event.Event, rel event.Relation) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	point := func(curve string, x, y float64) {
		w.Write([]string{curve, strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(y, 'g', -1, 64)})
	}
	w.Write([]string{"curve", "x", "y"})
	const perDecade = 8
	for i := 0; i <= 14*perDecade; i++ {
		delta := math.Pow(10, -float64(i)/perDecade)
		if epsilon := c.Epsilon(delta); !math.IsInf(epsilon, 1) {
			point("privacy", epsilon, delta)
		}
	}
	for i := 5 * perDecade; i > 0; i-- { // small rates, where tests of membership are judged
		fpr := math.Pow(10, -float64(i)/perDecade) / 2
		point("tradeoff", fpr, c.Tradeoff(fpr))
	}
	for i := 50; i <= 100; i++ {
		fpr := float64(i) / 100
		point("tradeoff", fpr, c.Tradeoff(fpr))
	}
	renyi, err := accountant.RenyiCurve(ev, rel)
	if unknown := new(accountant.UnsupportedError); err != nil && !errors.As(err, &unknown) {
		return err
	}
	for _, p := range renyi {
		point("renyi", p.Order, p.Epsilon)
	}
	w.Flush()
	if err := outfile.Write(path, b.Bytes()); err != nil {
		return fmt.Errorf("--curve: %w", err)
	}
	return nil
}
