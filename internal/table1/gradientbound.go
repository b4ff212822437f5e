package table1

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models"
	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/formula"
	"d3p/internal/privacy"
)

// mostCorners bounds the corners of the design that GradientBound compares.
const mostCorners = 1 << 14

// GradientBound bounds the L2 norm of a unit's gradient of the score of a beta divergence, in
// the whitened coordinates of m, over all records within declared bounds and all parameters. It
// is for a regression of a binary response or of a category by a formula of columns and their
// products: there the gradient is the slope of the score in the linear predictors, see
// dist.BetaSlope, times the design. A core model has models.Model.GradientBound. Other models
// have no bound, and so +Inf: a density with a free residual standard deviation, and thresholds
// of ordered levels, which move by exp(θ).
func GradientBound(m *models.Model) float64 {
	f, l := m.Spec.Model, &m.Spec.Likelihood
	if f == nil {
		return m.GradientBound()
	}
	if f.Terms == nil || !l.IsBeta() || m.Spec.Data.Weights.IsSet() || len(m.Spec.Data.Tensors)+len(f.Predicted) > 0 ||
		!slices.Contains([]string{"bernoulli", "categorical"}, formula.FamilyOf(f.Family.V).Name) {
		return math.Inf(1)
	}
	p, products, ok := plainDesign(m)
	if !ok || m.P != len(products)*p.Effects {
		return math.Inf(1)
	}
	link := f.LinkName()
	if link == "softmax" && p.Effects == 1 { // of two levels
		link = "logit"
	}
	d, ok := cornersOf(m, p, products)
	if !ok {
		return math.Inf(1)
	}
	slope := l.Weight.Or(1) * dist.BetaSlope(link, l.Beta.Or(core.DefaultBeta))
	return slope * d.longest() * float64(max(1, m.Encoding.RowsPerUnit)) * (1 + 1e-9)
}

// corners are the designs of which all others are convex combinations: base, and one option of
// each block of columns. All are in whitened coordinates, the level first.
type corners struct {
	base   []float64
	blocks [][][]float64
}

// cornersOf are the corners of the design of p, the only linear predictor of m. The design is
// linear in each of its columns, so that its norm is largest where every number is at one of its
// bounds and of every category one level is present, or none. Columns that share a product are
// in one block.
func cornersOf(m *models.Model, p models.LinearPredictor, products [][]privacy.Reading) (d corners, ok bool) {
	if p.Level != nil {
		products = products[1:]
	}
	whitened := newWhitenedDesign(m, p, len(products))
	d.base = whitened.of(make([]float64, len(products)))
	for _, block := range blocksOf(products) {
		options, ok := block.options(m, products)
		if !ok {
			return d, false
		}
		for i, x := range options {
			options[i] = whitened.of(x)
			for k := range options[i] {
				options[i][k] -= d.base[k]
			}
		}
		d.blocks = append(d.blocks, options)
	}
	return d, true
}

// productBlock are products that share no column with others.
type productBlock struct {
	products []int
	columns  map[string][]privacy.Reading // every reading of a column
}

// columnOfReading names what a reading is of: a column, or whether it is missing.
func columnOfReading(r privacy.Reading) string { return groupOf([]privacy.Reading{r}) }

func blocksOf(products [][]privacy.Reading) (list []productBlock) {
	for j, product := range products {
		joined := productBlock{products: []int{j}, columns: map[string][]privacy.Reading{}}
		for _, r := range product {
			joined.columns[columnOfReading(r)] = []privacy.Reading{r}
		}
		apart := list[:0:0]
		for _, other := range list {
			if !joined.shares(other) {
				apart = append(apart, other)
				continue
			}
			joined.products = append(joined.products, other.products...)
			for name, readings := range other.columns {
				for _, r := range readings {
					if !slices.Contains(joined.columns[name], r) {
						joined.columns[name] = append(joined.columns[name], r)
					}
				}
			}
		}
		list = append(apart, joined)
	}
	return list
}

func (p productBlock) shares(other productBlock) bool {
	for name := range p.columns {
		if other.columns[name] != nil {
			return true
		}
	}
	return false
}

// options are the designs (K) of the block at all corners of its columns, 0 elsewhere; false if
// there are too many, or a column has no bounds.
func (p productBlock) options(m *models.Model, products [][]privacy.Reading) (list [][]float64, ok bool) {
	value := map[privacy.Reading]float64{}
	var at func(names []string) bool
	at = func(names []string) bool {
		if len(names) == 0 {
			x := make([]float64, len(products))
			for _, j := range p.products {
				x[j] = 1
				for _, r := range products[j] {
					x[j] *= value[r]
				}
			}
			list = append(list, x)
			return len(list) <= mostCorners
		}
		readings := p.columns[names[0]]
		if readings[0].Level != privacy.Number && !at(names[1:]) { // no level is present
			return false
		}
		for _, r := range readings {
			low, high, err := interval(m, r)
			if err != nil {
				return false
			}
			for _, value[r] = range []float64{low, high} {
				if (value[r] != 0 || r.Level == privacy.Number) && !at(names[1:]) {
					return false
				}
			}
			value[r] = 0
		}
		return true
	}
	return list, at(slices.Sorted(maps.Keys(p.columns)))
}

// longest is the largest norm of a corner, or a bound on it if there are many.
func (d corners) longest() float64 {
	n := 1
	for _, options := range d.blocks {
		if n *= len(options); n > mostCorners {
			return d.triangle()
		}
	}
	return longestFrom(d.base, d.blocks)
}

func longestFrom(sum []float64, blocks [][][]float64) float64 {
	if len(blocks) == 0 {
		return floats.Norm(sum, 2)
	}
	most, next := 0.0, make([]float64, len(sum))
	for _, option := range blocks[0] {
		for k := range next {
			next[k] = sum[k] + option[k]
		}
		most = max(most, longestFrom(next, blocks[1:]))
	}
	return most
}

// triangle is the norm of the middle of all corners, and the farthest option of each block from
// its middle.
func (d corners) triangle() float64 {
	middle, apart := slices.Clone(d.base), 0.0
	for _, options := range d.blocks {
		mean := make([]float64, len(middle))
		for _, option := range options {
			for k, x := range option {
				mean[k] += x / float64(len(options))
			}
		}
		farthest := 0.0
		for _, option := range options {
			square := 0.0
			for k, x := range option {
				square += (x - mean[k]) * (x - mean[k])
			}
			farthest = max(farthest, math.Sqrt(square))
		}
		apart += farthest
		for k, x := range mean {
			middle[k] += x
		}
	}
	return floats.Norm(middle, 2) + apart
}

// whitenedDesign takes a design to the whitened coordinates: its parts are the derivatives of the
// linear predictor by the level and the coefficients. Of several linear predictors the units are
// the largest.
type whitenedDesign struct {
	level          float64   // unit of the level; 0: none
	center, matrix []float64 // of the rotation (K, K×K)
	unit           []float64 // of the coefficients (K)
}

func newWhitenedDesign(m *models.Model, p models.LinearPredictor, k int) whitenedDesign {
	w := whitenedDesign{center: make([]float64, k), matrix: make([]float64, k*k), unit: make([]float64, k)}
	for j := range k {
		w.unit[j], w.matrix[j*k+j] = 1, 1
	}
	if p.Level != nil {
		w.level = 1
	}
	c := m.Coordinates()
	if c == nil {
		return w
	}
	for j := range k {
		w.unit[j] = slices.Max(c.Unit[p.At(j, 0):p.At(j+1, 0)])
	}
	if p.Level != nil {
		w.level = slices.Max(c.Unit[p.Level.Offset : p.Level.Offset+p.Effects])
	}
	for i := range c.Predictors {
		if r := &c.Predictors[i]; r.Coefficients == p.Coefficients.Name {
			w.center, w.matrix = r.Center, r.Matrix
		}
	}
	return w
}

// of is the design x (K) in whitened coordinates (1+K): Matrixᵀ(x − Center) in units.
func (w whitenedDesign) of(x []float64) []float64 {
	k := len(w.unit)
	out := make([]float64, 1+k)
	out[0] = w.level
	for i := range k {
		for j := range k {
			out[1+j] += w.unit[j] * w.matrix[i*k+j] * (x[i] - w.center[i])
		}
	}
	return out
}
