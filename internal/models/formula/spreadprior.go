package formula

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/naming"
)

// SpreadPrior is a default prior that depends on the spread of columns without a declared
// scale: a normal of a coefficient per standard deviation of what its columns have of their own,
// or of a level of the predictor at their means.
type SpreadPrior struct {
	Name         string   `json:"name"`              // Intercept, thresholds or b[age]
	Distribution string   `json:"distribution"`      // about 0
	SD           float64  `json:"sd"`                // per standard deviation, or at the means
	Columns      []string `json:"columns,omitempty"` // columns without a declared scale
	Response     string   `json:"response,omitempty"`
}

// SpreadPriors are the default priors of the formula that are about the spread of columns.
// The file states neither these priors nor the scales of these columns.
func (m *Model) SpreadPriors(d *data.Data) []SpreadPrior {
	if m.states(naming.Slopes) {
		return nil
	}
	f, response := FamilyOf(m.Family.V), ""
	y := d.Column(m.Terms.Response.V)
	if f.scaled && y.ToBounds() {
		response = y.Name.V
	}
	elements := []string{""}
	if f.effects {
		elements = nil
		for _, e := range y.Effects() {
			elements = append(elements, ","+e)
		}
	}
	var list []SpreadPrior
	var shifts []string
	for _, label := range m.Terms.labels(d) {
		var columns []string
		factors, _ := d.Factors(label)
		for _, x := range factors {
			if !x.Missing && x.Column.ToBounds() {
				columns = append(columns, x.Column.Name.V)
			}
		}
		if len(columns) == 0 && response == "" {
			continue
		}
		for _, e := range elements {
			name := "b[" + label + e + "]"
			if m.states(name) {
				continue
			}
			list = append(list, SpreadPrior{name, "normal", 1, columns, response})
			if len(factors) == 1 && len(columns) == 1 && !slices.Contains(shifts, columns[0]) {
				shifts = append(shifts, columns[0])
			}
		}
	}
	switch {
	case len(shifts) == 0:
	case f.cuts:
		if !m.states(naming.Thresholds) {
			list = append(list, level(naming.Thresholds, m.auxPrior(f.aux[0], d), shifts, ""))
		}
	case m.Terms.Intercept && !f.replacesIntercept() && !f.Link(m.Link.V).positive && !m.states(naming.Intercept):
		list = append(list, level(naming.Intercept, priorIntercept, shifts, response))
	}
	return list
}

// level is the prior of a level of the predictor whose default is a distribution about 0.
func level(name, prior string, columns []string, response string) SpreadPrior {
	distribution, sd, _ := strings.Cut(strings.TrimSuffix(prior, ")"), "(0, ")
	p := SpreadPrior{Name: name, Distribution: distribution, Columns: columns, Response: response}
	p.SD, _ = strconv.ParseFloat(sd, 64)
	return p
}

// Spread has the numbers of Table 1 about a column: its mean and standard deviation, and the part of its
// variance that the other predictors do not explain.
type Spread struct{ Mean, SD, Own float64 }

// leastOwn is the least part that widens a prior. Where columns are nearly collinear, coefficients per
// standard deviation may be large and cancel: of abalone that of the whole weight and those of its parts.
const leastOwn = 0.16

// Text is the prior where spread is that of a column; ok is false if the standard deviation of one of
// them is 0. The prior of a level at the declared centres is as wide as coefficients of standard deviation
// 1 make the distance from the means to the centres.
func (p SpreadPrior) Text(d *data.Data, spread func(column string) Spread) (text string, ok bool) {
	unit, square, response := 1.0, p.SD*p.SD, 1.0
	for _, name := range p.Columns {
		center, by := d.Column(name).Scale()
		s := spread(name)
		if !(s.SD > 0) {
			return "", false
		}
		sd := s.SD * math.Sqrt(max(s.Own, leastOwn))
		unit *= by / sd
		square += (center - s.Mean) * (center - s.Mean) / (sd * sd)
	}
	if p.Response != "" {
		_, by := d.Column(p.Response).Scale()
		sd := spread(p.Response).SD
		if !(sd > 0) {
			return "", false
		}
		response = sd / by
	}
	sd := p.SD * unit * response
	if !strings.HasPrefix(p.Name, "b[") {
		// the mean of the response may be SD away from its declared centre
		sd = math.Sqrt(p.SD*p.SD + (square-p.SD*p.SD)*response*response)
	}
	return p.Distribution + "(0, " + strconv.FormatFloat(sd, 'g', 3, 64) + ")", true
}

// states reports whether the file states the prior of this name.
func (m *Model) states(name string) bool {
	return slices.ContainsFunc(m.Priors, func(p *core.Definition) bool { return p.Name.V == name })
}
