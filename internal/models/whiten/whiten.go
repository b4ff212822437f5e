// Package whiten computes coordinates of a fit in which the columns of linear predictors do
// not correlate.
package whiten

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/formula"
	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/models/naming"
	"d3p/internal/models/simulate"
	"d3p/internal/simd"
)

// Coordinates are whitened coordinates in which the linear predictors of m have columns of
// mean 0 and variance about 1, uncorrelated over records of l. The fit starts where the law
// suggests. Responses on the whole line are in units of their residual standard deviation,
// and cutpoints in those of the linear predictor.
//
// With Σ the covariance of the design's columns and N the number of records, Matrix is (Σ +
// R)^(−1/2), symmetric in units of the columns. R is diagonal: ridge of each column's
// variance, and the precision of the prior over N/4 and times manyColumns. So a direction in
// which the prior has more information than the records is not enlarged, and no level has more than
// leverage (LimitLeverage). The computation compares levels with the most common one of their category
// (toCommonReference).
//
// It returns nil if m has no linear predictor.
func Coordinates(m *models.Model, l *law.Law, ridge, leverage float64, rng dist.Rand) *models.Coordinates {
	list := m.LinearPredictors()
	if len(list) == 0 {
		return nil
	}
	rows, precision := drawRows(m, l, rng), m.PriorPrecision(rng)
	records := max(1, l.Records)
	c := &models.Coordinates{Origin: make([]float64, m.P), Unit: slices.Repeat([]float64{1}, m.P)}
	designs, response, offsets := designs(m, list, rows)
	noise := correlationNoise(l, false)
	directions := correlationNoise(l, true)
	for i, p := range list {
		k := len(p.Coefficients.Dims[0].Labels)
		prior := make([]float64, k)
		for j := range prior {
			prior[j] = precision[p.At(j, 0)]
		}
		r := whiten(m, p, designs[i], records, ridge+noiseReach*directions*math.Sqrt(float64(k)), leverage, prior)
		if p.Cuts && p.Level != nil && p.Level.Transform.Name == "ordered" {
			y := m.Spec.Model.Terms.Response.V
			placeCuts(c, p.Level, l.Column(y), max(unseen*shareNoise(l, y), 1/records))
		}
		if f := m.Spec.Model; f != nil && response != nil && p.Coefficients.Name == naming.Slopes && p.Effects == 1 {
			y := formula.Response{Values: response, Offsets: offsets, By: 1, Known: knownShare(l, f.Terms.Event.V)}
			if column := m.Spec.Data.Column(f.Terms.Response.V); column != nil {
				_, y.By = column.Scale()
			}
			at := f.StartFor(y, unseen*shareNoise(l, f.Terms.Response.V), func(values []float64) (mean, sd float64, covariances []float64) {
				return regress(&r, designs[i], values, noise)
			})
			place(m, c, at)
			for j, x := range at.Slopes {
				c.Origin[p.At(j, 0)] = x / at.Unit
			}
			for j := range r.Matrix {
				r.Matrix[j] *= at.Unit
			}
		}
		c.Predictors = append(c.Predictors, r)
	}
	return c
}

// unseen is the share of an outcome, in those of its noise, that is likely where counts show none.
const unseen = 0.5

// shareNoise is the noise of the share of one number or level of a column; 0 for one that was not bought.
func shareNoise(l *law.Law, name string) float64 {
	switch c := l.Column(name); {
	case c == nil:
		return 0
	case len(c.Counted) > 0:
		return c.Counted[0].SD
	case len(c.ShareSD) > 0:
		return c.ShareSD[0]
	}
	return 0
}

// knownShare is the share of records with the event of a censored time, at least what noise hides; 1 without one.
func knownShare(l *law.Law, event string) float64 {
	if c := l.Column(event); c != nil && len(c.Shares) == 2 {
		return max(c.Shares[1]/(c.Shares[0]+c.Shares[1]), unseen*shareNoise(l, event), 1/max(1, l.Records))
	}
	return 1
}

// noiseReach times √K times the noise of a law's correlations, K columns, is added to
// the variance of every direction. The largest eigenvalue of the noise alone is 2√K
// times it (Wigner 1958); a quarter of that gave the best log scores.
const noiseReach = 0.5

// correlationNoise is the root mean square of the noise in a law's correlations. With known, a closer look
// takes it out of those that it is about.
func correlationNoise(l *law.Law, known bool) float64 {
	square, n := 0.0, 0.0
	for at, sd := range l.CorrelationSD {
		if i, j := at/len(l.Columns), at%len(l.Columns); known && i != j && l.LooksCloser(i) && l.LooksCloser(j) {
			n++
		} else if sd > 0 {
			square, n = square+sd*sd, n+1
		}
	}
	return math.Sqrt(square / max(1, n))
}

// regress are the mean and the standard deviation of the response y, and its
// covariances with the whitened columns of a design (n×K), which are its regression on
// them. Each is shrunk by its noise, which the correlations bring along.
func regress(r *models.Rotation, design, y []float64, noise float64) (mean, sd float64, slopes []float64) {
	k := len(r.Center)
	mean, sd = stat.PopMeanStdDev(y, nil)
	with, square := make([]float64, k), make([]float64, k) // covariances with the design's columns, their variances
	for i, v := range y {
		for j := range with {
			d := design[i*k+j] - r.Center[j]
			with[j] += (v - mean) / float64(len(y)) * d
			square[j] += d * d / float64(len(y))
		}
	}
	slopes = make([]float64, k)
	for j := range slopes {
		variance := 0.0
		for i, v := range with {
			slopes[j] += r.Matrix[i*k+j] * v
			variance += r.Matrix[i*k+j] * r.Matrix[i*k+j] * square[i]
		}
		if variance *= noise * noise * sd * sd; variance > 0 {
			slopes[j] *= slopes[j] * slopes[j] / (slopes[j]*slopes[j] + variance)
		}
	}
	return mean, sd, slopes
}

// lawRecords is the number of records that represent a law.
const lawRecords = 10000

// Rows are the design (n×K) of the only linear predictor of m and its response (n), of
// lawRecords records drawn from a law.
func Rows(m *models.Model, l *law.Law, rng dist.Rand) (design, response []float64) {
	all, y, _ := designs(m, m.LinearPredictors(), drawRows(m, l, rng))
	return all[0], y
}

// drawRows draws encoded records (lawRecords×Encoding.K) from a law alone.
func drawRows(m *models.Model, l *law.Law, rng dist.Rand) []float64 {
	t := simulate.Table{Columns: m.Spec.Data.AllColumns()}
	for range t.Columns {
		t.Values = append(t.Values, make([]float64, lawRecords))
	}
	l.Draw(t.Values, rng)
	return simulate.Encode(m, t, lawRecords)
}

// place sets origins and units by the formula's placement of single parameters.
func place(m *models.Model, c *models.Coordinates, at formula.Start) {
	for i := range m.Params {
		p := &m.Params[i]
		origin, ok := at.Origin[p.Name]
		isReal := p.Transform.Name == "identity"
		if !ok || !isReal && p.Transform.Name != "exp" {
			continue
		}
		for j := p.Offset; j < p.Offset+p.Size; j++ {
			c.Origin[j] = origin
			if isReal {
				c.Unit[j] = at.Unit
			}
		}
	}
}

// placeCuts sets origins and units of the cutpoints of an ordinal response with the law y, nil for none. Where the
// linear predictor is 0 its levels have their shares there, least at least, and the next cutpoint moves by a unit of
// each coordinate, or by less. The coordinate of a distance is its logarithm: of one of 3, gradients in other units
// were three times as long as those of an intercept, and clipped.
func placeCuts(c *models.Coordinates, level *models.Param, y *law.Column, least float64) {
	shares, cuts := slices.Repeat([]float64{1}, level.Size+1), make([]float64, level.Size)
	if y != nil && len(y.Shares) == len(shares) {
		for k, share := range y.Shares {
			shares[k] = max(share, least)
		}
	}
	formula.Cutpoints(cuts, shares)
	origin, unit := c.Origin[level.Offset:], c.Unit[level.Offset:]
	level.Transform.Inverse(origin[:level.Size], cuts)
	for k := 1; k < level.Size; k++ {
		unit[k] = min(1, math.Exp(-origin[k]))
	}
}

// designs evaluates the designs of linear predictors for encoded rows, each [n×K], and, of
// a model with one, the response and the sums of its offsets.
func designs(m *models.Model, list []models.LinearPredictor, rows []float64) (designs [][]float64, response, offsets []float64) {
	tape := m.DesignTape()
	const batch = 500
	machine := graph.NewMachine(tape, batch)
	machine.Globals(make([]float64, m.P), nil)
	k, all := m.Encoding.K, make([][]float64, len(tape.Outputs))
	for n := len(rows) / k; n > 0; n = len(rows) / k {
		b := min(n, batch)
		machine.Records(rows[:b*k], k, b, make([]float64, tape.AuxRecord*b))
		for i := range all {
			out, size := machine.Output(i), tape.Buffers[tape.Outputs[i]].Size
			for r := range b {
				for j := range size {
					all[i] = append(all[i], out[(j*b+r)%len(out)])
				}
			}
		}
		rows = rows[b*k:]
	}
	if len(all) > len(list) {
		response = all[len(list)]
		offsets = make([]float64, len(response))
	}
	if len(all) > len(list)+1 && simd.Finite(all[len(list)+1]) { // the log of an exposure may not be
		offsets = all[len(list)+1]
	}
	return all[:len(list)], response, offsets
}

// whiten is the rotation of one linear predictor of m by the n rows of its design (n×K).
func whiten(m *models.Model, l models.LinearPredictor, design []float64, records, ridge, leverage float64, prior []float64) models.Rotation {
	k := len(prior)
	n := len(design) / k
	x := mat.NewDense(n, k, design)
	center := make([]float64, k)
	if l.Level != nil {
		for r := range n {
			for j, v := range x.RawRowView(r) {
				center[j] += v / float64(n)
			}
		}
	}
	squares := mat.NewSymDense(k, nil)
	d := mat.NewVecDense(k, nil)
	for r := range n {
		for j, v := range x.RawRowView(r) {
			d.SetVec(j, v-center[j])
		}
		squares.SymRankOne(squares, 1/float64(n), d)
	}
	ofPrior := mat.NewSymDense(k, nil)
	for j, precision := range prior {
		ofPrior.SetSym(j, j, precision)
	}
	deviations := LevelDeviations(m, l, center)
	var recode *mat.Dense
	if l.Level != nil {
		recode = toCommonReference(l.Coefficients.Dims[0].Labels, center)
		congruent(squares, recode)
		congruent(ofPrior, recode)
		for _, u := range deviations {
			u.MulVec(recode.T(), u)
		}
	}
	for j := range k {
		squares.SetSym(j, j, squares.At(j, j)*(1+ridge)+(4/records+manyColumns(k))*ofPrior.At(j, j))
	}
	LimitLeverage(squares, deviations, leverage)
	root := inverseRoot(squares)
	if recode != nil {
		var declared mat.Dense
		declared.Mul(recode, root)
		root.Copy(&declared)
	}
	matrix := make([]float64, k*k)
	for i := range k {
		copy(matrix[i*k:], root.RawRowView(i))
	}
	return models.Rotation{Coefficients: l.Coefficients.Name, Center: center, Matrix: matrix}
}

// manyColumns is a part of R for k columns, in units of the prior's precision. Of a hundred
// columns most are rare levels. If each had variance 1, a record of such a level would lie many
// standard deviations away: clipping takes nearly all of its gradient, and every column adds
// noise. Log scores on adult (95 columns, 89 of them 0 or 1, prior sd 1) became -.347 from -.365
// at ε = 0.1, and -.331 from -.335 at 1 (four and two fits).
func manyColumns(k int) float64 {
	share := min(1, float64(k)/100)
	return 0.2 * share * share
}

// inverseRoot is D⁻¹ (D⁻¹ squares D⁻¹)^(-1/2), D² the diagonal of squares, which it overwrites.
func inverseRoot(squares *mat.SymDense) *mat.Dense {
	k := squares.SymmetricDim()
	scale := make([]float64, k)
	for j := range scale {
		scale[j] = math.Sqrt(squares.At(j, j))
	}
	for j := range k {
		for i := range j + 1 {
			squares.SetSym(i, j, squares.At(i, j)/(scale[i]*scale[j]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(squares, true) {
		panic("whiten: no eigenvalues")
	}
	var v, half, root mat.Dense
	e.VectorsTo(&v)
	half.CloneFrom(&v)
	for j, value := range e.Values(nil) {
		for i := range k {
			half.Set(i, j, half.At(i, j)/math.Sqrt(value))
		}
	}
	root.Mul(&half, v.T())
	for i := range k {
		for j := range k {
			root.Set(i, j, root.At(i, j)/scale[i])
		}
	}
	return &root
}
