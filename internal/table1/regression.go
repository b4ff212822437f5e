package table1

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/formula"
	"d3p/internal/models/naming"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
)

// mostDesign bounds the number of columns of a design whose second moments are bought.
const mostDesign = 16

// Regression has the places in θ of a linear regression's parameters.
type Regression struct {
	Intercept, Sigma int
	Coefficients     models.LinearPredictor
	// products are 1, the columns of the design, and the response.
	products [][]privacy.Reading
}

// Columns is the number of columns of the design, without the constant.
func (r *Regression) Columns() int { return len(r.products) - 2 }

// RegressionOf is m as a linear regression with normal errors of one standard deviation;
// nil if the second moments are not its whole likelihood. It also leaves out records of
// several rows and columns made by functions.
func RegressionOf(m *models.Model) *Regression {
	f := m.Spec.Model
	if f == nil || f.Terms == nil || formula.FamilyOf(f.Family.V).Name != "normal" || f.LinkName() != "identity" || len(f.Predicted) > 0 || len(m.Spec.Data.Tensors) > 0 || m.Spec.Data.Weights.IsSet() || !m.Spec.Likelihood.IsLog() {
		return nil
	}
	for _, c := range m.Spec.Data.Columns {
		if c.Buys() { // bounds and scales take too much of the budget
			return nil
		}
	}
	p, products, ok := plainDesign(m)
	if !ok || !f.Terms.Intercept || len(f.Terms.Functions) > 0 || m.Encoding.RowsPerUnit > 1 {
		return nil
	}
	r := &Regression{Coefficients: p, Intercept: p.Level.Offset, Sigma: -1, products: products}
	for i := range m.Params {
		if p := &m.Params[i]; p.Name == naming.Sigma && p.Transform.Name == "exp" && p.Size == 1 {
			r.Sigma = p.Offset
		}
	}
	response, numeric := responseOf(m)
	if r.Sigma < 0 || m.P != len(products)+1 || len(products) > mostDesign+1 || !numeric {
		return nil
	}
	r.products = append(r.products, []privacy.Reading{response})
	return r
}

// plainDesign is the only linear predictor of a formula (of a category one per level), columns of
// the file or their products beside an intercept, if it has one; ok is false where there is more to
// it. products are 1, for the intercept, and the columns of the design.
func plainDesign(m *models.Model) (p models.LinearPredictor, products [][]privacy.Reading, ok bool) {
	t := m.Spec.Model.Terms
	if len(t.Groups)+len(t.Smooths)+len(t.Offsets) > 0 || t.Event.IsSet() || m.Likelihood.AuxRecord > 0 {
		return p, nil, false
	}
	list := m.LinearPredictors()
	if len(list) != 1 || list[0].Cuts || (list[0].Level != nil) != t.Intercept || t.Intercept && list[0].Level.Size != list[0].Effects {
		return p, nil, false
	}
	if t.Intercept {
		products = [][]privacy.Reading{{}}
	}
	for _, label := range list[0].Coefficients.Dims[0].Labels {
		product, ok := readings(m, label)
		if !ok {
			return p, nil, false
		}
		products = append(products, product)
	}
	return list[0], products, true
}

// responseOf is the only response as it enters the density, and whether it is a number
// that is there in every usable row.
func responseOf(m *models.Model) (r privacy.Reading, numeric bool) {
	responses := 0
	for _, x := range m.Encoding.Fields {
		if x.Role != encoding.Response {
			continue
		}
		responses++
		numeric = x.Kind == encoding.Numeric
		r = privacy.Reading{Column: x.Column, Level: privacy.Number, Transform: x.Transform, Center: x.Center, By: x.Unit()}
	}
	c := m.Spec.Data.Column(m.Spec.Model.Terms.Response.V)
	return r, numeric && responses == 1 && c != nil && m.Spec.Data.MissingOf(c).Rule != data.MissingModel
}

// readings are the factors of a column of the design; false if one is no column of the file.
func readings(m *models.Model, label string) (product []privacy.Reading, ok bool) {
	factors, ok := m.Spec.Data.Factors(label)
	if !ok {
		return nil, false
	}
	for _, x := range factors {
		if find(m, x.Column.HeaderName()) != x.Column {
			return nil, false
		}
		reading := privacy.Reading{Column: x.Column.HeaderName(), Level: privacy.Number, By: 1}
		switch {
		case x.Missing:
			reading.Level = privacy.Missing
		case x.Level >= 0:
			reading.Level = x.Level
		case x.Column.Numeric():
			reading.Transform = x.Column.Transform.V
			reading.Center, reading.By = x.Column.Scale()
		}
		product = append(product, reading)
	}
	return product, true
}

// Design is that of 1, the whitened columns of c, and the response less its linear
// predictor at c.Origin, in units of c.
func (r *Regression) Design(c *models.Coordinates, bound, noise float64) privacy.Design {
	rotation, k := &c.Predictors[0], r.Columns()
	unit := c.Unit[r.Intercept]
	rows := [][]float64{make([]float64, k+2)}
	rows[0][0] = 1
	response := make([]float64, k+2)
	response[k+1] = 1 / unit
	response[0] = -c.Origin[r.Intercept] / unit
	for j := range k {
		row := make([]float64, k+2)
		for i := range k {
			row[i+1] = rotation.Matrix[i*k+j] / unit
			row[0] -= rotation.Matrix[i*k+j] / unit * rotation.Center[i]
		}
		origin := c.Origin[r.Coefficients.At(j, 0)]
		for i, x := range row {
			response[i] -= origin * x
		}
		rows = append(rows, row)
	}
	return privacy.Design{Products: r.products, Map: append(rows, response), Bound: bound, Noise: noise}
}

// The rule of OfRegression, in shares of μ². A small budget needs larger shares to find
// where numbers lie.
const (
	fairCounts, mostRegressionCounts    = 0.05, 0.10
	mostRegressionMoments               = 0.10
	goodSecond, cheapSecond, mostSecond = 0.01, 0.03, 0.25
)

// size is about the norm in L2 of a record's second moments.
func (r *Regression) size() float64 {
	k := float64(r.Columns() + 1)
	return math.Sqrt(3*k + k*(k-1)/2)
}

// SecondNoise is the least noise of a second moment, by record, that mostSecond of μ² buys;
// signal is μN.
func (r *Regression) SecondNoise(signal float64) float64 {
	return r.size() / (signal * math.Sqrt(mostSecond))
}

// OfRegression is the purchase before the regression m, of K columns: Table 1, then second moments.
func OfRegression(m *models.Model, mu float64, records int, rel event.Relation) *Plan {
	signal := mu * float64(records)
	need, counts := countsShare(m, mu, signal)
	counts = max(counts, min(need*math.Pow(goodNoise/fairCounts, 2), mostRegressionCounts))
	correlations := min(math.Pow(momentsBound(m)/(signal*goodCorrelation), 2), mostRegressionMoments)
	closer, closerBound := closerShare(m, signal, mostCloser)
	p := planned(m, mu, rel, shares{counts: counts, moments: correlations}, nil).withCloser(closer, closerBound, mu)
	size := RegressionOf(m).size()
	share := max(cheapSecond, min(size*size/(goodSecond*goodSecond*signal*signal), mostSecond))
	sigma := 1 / (mu * math.Sqrt(share))
	p.Share += share
	p.Releases = append(p.Releases, Release{Kind: Second, Noise: sigma, NoiseMultiplier: sigma})
	return p
}

// Second is the release of the plan that has second moments of a regression, or nil.
func (p *Plan) Second() *Release {
	if p == nil {
		return nil
	}
	return p.release(Second)
}
