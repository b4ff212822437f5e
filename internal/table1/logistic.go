package table1

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/privacy"
)

// Logistic is a logistic regression with independent normal priors, from which the curator
// draws exactly.
type Logistic struct {
	// Places are those of the intercept and the coefficients in θ.
	Places   []int
	Products [][]privacy.Reading // 1 and the columns of the design
	Response privacy.Reading
	Outcome  privacy.Comparison // of the response
	Mean, SD []float64          // of the priors, in the order of Places
}

// mostLogistic bounds the coefficients of a Logistic, the intercept among them: beyond it a
// draw by rejection takes minutes to hours. Many records make it faster.
func mostLogistic(records int) int {
	if records < 10000 {
		return 16
	}
	return 20
}

// LogisticOf is m as a logistic regression. The error states why m is another model.
func LogisticOf(m *models.Model) (*Logistic, error) {
	f := m.Spec.Model
	switch {
	case f == nil || f.Terms == nil || formula.FamilyOf(f.Family.V).Name != "bernoulli" || f.LinkName() != "logit":
		return nil, errors.New("the model is no logistic regression by a formula")
	case len(f.Predicted) > 0 || len(m.Spec.Data.Tensors) > 0:
		return nil, errors.New("the formula has more than one linear predictor of single numbers")
	case m.Spec.Data.Weights.IsSet():
		return nil, errors.New("the weights of rows have no bound: remove weights from data")
	case m.Spec.Likelihood.IsBeta():
		return nil, errors.New("the likelihood is replaced by a score: remove likelihood")
	}
	p, products, ok := plainDesign(m)
	if !ok {
		return nil, errors.New("the formula has more than an intercept, columns and their products")
	}
	if most := mostLogistic(m.Spec.Data.Rows.N()); len(products) > most {
		return nil, fmt.Errorf("the formula has %d coefficients, more than %d", len(products), most)
	}
	l := &Logistic{Products: products}
	if p.Level != nil {
		l.Places = []int{p.Level.Offset}
	}
	if l.Response, l.Outcome, ok = outcomeOf(m); !ok {
		return nil, errors.New("the response is no column, nor one compared with a number or a level")
	}
	for j := range len(products) - len(l.Places) {
		l.Places = append(l.Places, p.At(j, 0))
	}
	return l, l.priors(m)
}

// Regression is what the curator reads, for a declared number of records.
func (l *Logistic) Regression(records int) privacy.Logistic {
	return privacy.Logistic{Products: l.Products, Response: l.Response, Outcome: l.Outcome, Mean: l.Mean, SD: l.SD, Records: records}
}

// Length is the root mean square of the design in units of the prior, for columns that are
// spread evenly over their bounds.
func (l *Logistic) Length(m *models.Model) (float64, error) {
	return l.length(m, func(low, high float64) float64 { return (low*low + low*high + high*high) / 3 })
}

// Longest is the length of the longest design within the bounds of the columns, in units of the
// prior.
func (l *Logistic) Longest(m *models.Model) (float64, error) {
	return l.length(m, func(low, high float64) float64 { return max(low*low, high*high) })
}

// length is that of a design whose numbers have these squares.
func (l *Logistic) length(m *models.Model, squareOf func(low, high float64) float64) (float64, error) {
	groups := map[string]float64{} // of products: in a row only one of a group is not 0
	for j, product := range l.Products {
		square := l.SD[j] * l.SD[j]
		for _, f := range product {
			low, high, err := interval(m, f)
			if err != nil {
				return 0, err
			}
			if f.Level == privacy.Number {
				square *= squareOf(low, high)
			}
		}
		name := groupOf(product)
		groups[name] = max(groups[name], square)
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		sum += groups[name]
	}
	return math.Sqrt(sum), nil
}

// outcomeOf is the response of m as a reading, and the comparison that makes it the outcome.
func outcomeOf(m *models.Model) (r privacy.Reading, c privacy.Comparison, ok bool) {
	f := m.Spec.Model.Terms
	r, _ = responseOf(m)
	c = privacy.Comparison{Operator: ">", Number: 0.5}
	if len(f.Functions) == 0 {
		return r, c, true
	}
	e, ok := f.Functions[0].Expr.(*expr.Binary)
	if !ok || len(f.Functions) > 1 || len(f.Compared) != 1 {
		return r, c, false
	}
	name, ok := e.X.(*expr.Name)
	if !ok || m.Spec.Data.Column(name.ID) == nil {
		return r, c, false
	}
	column := m.Spec.Data.Column(name.ID)
	switch y := e.Y.(type) {
	case *expr.Number:
		return r, privacy.Comparison{Operator: e.Op, Number: y.Value}, column.Numeric() && slices.Contains([]string{">", ">=", "<", "<="}, e.Op)
	case *expr.Text:
		r.Level = slices.Index(column.LevelNames(), y.Value)
		return r, c, e.Op == "==" && r.Level >= 0 && !column.Numeric()
	}
	return r, c, false
}

// priors sets Mean and SD, by the slopes of the log density.
func (l *Logistic) priors(m *models.Model) error {
	if m.P != len(l.Places) {
		return errors.New("the model has other parameters than an intercept and coefficients")
	}
	for _, p := range m.Core.Params {
		distribution, _, _ := expr.SplitDims(p.Expr)
		if call, ok := distribution.(*expr.Call); !ok || call.Func != "normal" {
			return fmt.Errorf("the prior of %s is no normal distribution", p.Name.V)
		}
	}
	density, theta := m.NewPriorDensity(), make([]float64, m.P)
	slope := func(x float64) []float64 {
		g := make([]float64, m.P)
		for j := range theta {
			theta[j] = x
		}
		density.Gradient(g, theta)
		return g
	}
	at0, at1 := slope(0), slope(1)
	for _, j := range l.Places {
		precision := at0[j] - at1[j]
		mean, sd := at0[j]/precision, math.Sqrt(1/precision)
		if !(precision > 0) || !(sd > 1e-6 && sd < 1e6) || !(math.Abs(mean) < 1e6) {
			return errors.New("a prior has no finite mean and standard deviation between 1e-6 and 1e6")
		}
		l.Mean, l.SD = append(l.Mean, mean), append(l.SD, sd)
	}
	return nil
}
