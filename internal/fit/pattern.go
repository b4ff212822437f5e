package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// pattern is what the information of records can look like at a point θ: a sum
// Σ w_r g_r g_rᵀ, w ≥ 0, over the gradients of records that the model invents
// there. Directions in which no record has a gradient stay exact: an intercept
// against the effects of groups when every record is in one of them.
type pattern struct {
	latent    int // P, columns
	records   int // rows
	gradients []float64
}

// A pattern is made of patternRecords records, patternBatch at a time: so many
// that correlations which are there by chance are small.
const (
	patternRecords = 4000
	patternBatch   = 400
)

// newPattern invents records at theta (P) and takes their gradients.
func newPattern(p *plan.Plan, theta []float64, rng dist.Rand) pattern {
	m := p.Model()
	machine := graph.NewMachine(m.Likelihood, patternBatch)
	machine.Globals(theta, nil)
	q := pattern{latent: p.Latent}
	g := make([]float64, p.Latent)
	for range patternRecords / patternBatch {
		machine.Records(m.SimulateRecords(theta, patternBatch, rng), m.Encoding.K, patternBatch, nil)
		for r := range patternBatch {
			if machine.Gradient(r, g); finite(g) {
				q.gradients = append(q.gradients, g...)
				q.records++
			}
		}
	}
	return q
}

// row is the gradient of record r.
func (q pattern) row(r int) []float64 { return q.gradients[r*q.latent : (r+1)*q.latent] }

// perParameter is the effective number of records for a parameter: with x_r the
// squares of record r's gradient, each over their sum, added up, (Σ x)²/Σ x², over
// P. Few of them make correlations by chance, as where most records that a model
// invents are predicted nearly surely and say nothing.
func (q pattern) perParameter() float64 {
	sums, first, second := make([]float64, q.latent), 0.0, 0.0
	for r := range q.records {
		for j, x := range q.row(r) {
			sums[j] += x * x
		}
	}
	for r := range q.records {
		at := 0.0
		for j, x := range q.row(r) {
			if x != 0 {
				at += x * x / sums[j]
			}
		}
		first, second = first+at, second+at*at
	}
	return first * first / second / float64(q.latent)
}

// moved reports of each coordinate whether some record has a gradient in it.
func (q pattern) moved() []bool {
	list := make([]bool, q.latent)
	for r := range q.records {
		for j, x := range q.row(r) {
			list[j] = list[j] || x != 0
		}
	}
	return list
}

// of is the pattern of the coordinates index. One that no record moves, as the
// effect of an indicator of missing values, gets a record of its own.
func (q pattern) of(index []int) pattern {
	out := pattern{latent: len(index), records: q.records}
	for r := range q.records {
		out.gradients = append(out.gradients, pick(q.row(r), index)...)
	}
	for i, is := range out.moved() {
		if !is {
			alone := make([]float64, len(index))
			alone[i] = 1
			out.gradients = append(out.gradients, alone...)
			out.records++
		}
	}
	return out
}

// flatTolerance is the largest eigenvalue of the pattern's correlations at which a
// direction counts as one that no record has a gradient in.
const flatTolerance = 1e-10

// flat is a basis, in columns, of the directions in which no record has a
// gradient; nil where none is found.
func (q pattern) flat() *mat.Dense {
	g := mat.NewDense(q.records, q.latent, q.gradients)
	length := make([]float64, q.latent)
	var squares mat.SymDense
	squares.SymOuterK(1, g.T())
	for j := range length {
		length[j] = math.Sqrt(squares.At(j, j))
	}
	for j := range length {
		for k := range j + 1 {
			squares.SetSym(j, k, squares.At(j, k)/(length[j]*length[k]))
		}
	}
	values, vectors := eigen(&squares)
	count := 0 // values ascend
	for count < len(values) && values[count] < flatTolerance {
		count++
	}
	if count == 0 {
		return nil
	}
	basis := mat.DenseCopyOf(vectors.Slice(0, q.latent, 0, count))
	for j, x := range length {
		for k := range count {
			basis.Set(j, k, basis.At(j, k)/x)
		}
	}
	return basis
}

// patternRounds is how often fit improves the weights.
const patternRounds = 100

// fit is the matrix of the pattern whose diagonal is h (P), h ≥ 0, which is known
// with variance v (P): least squares by the multiplicative updates of Lee and
// Seung 2001 (Algorithms for non-negative matrix factorization, NIPS 13), from
// equal weights. They end where the diagonal differs from h no more than h from
// the truth, Σ (diagonal − h)²/v ≤ P (Morozov's discrepancy principle): what h
// does not decide stays as it was invented. Further on weights follow the noise
// in h, and where it makes a mark of some records larger than that of all,
// nothing is left for the others.
func (q pattern) fit(h, v []float64) *mat.SymDense {
	square := make([]float64, len(q.gradients))
	simd.Square(square, q.gradients)
	of := func(r int) []float64 { return square[r*q.latent : (r+1)*q.latent] }
	weight, have, want := make([]float64, q.records), make([]float64, q.latent), make([]float64, q.records)
	scaled := make([]float64, q.latent)
	simd.Div(scaled, h, v)
	for r := range want {
		simd.Add(have, have, of(r))
		want[r] = simd.Dot(of(r), scaled)
	}
	common := commonFactor(have, h, v)
	for r := range weight {
		weight[r] = common
	}
	for range patternRounds {
		clear(have)
		for r, w := range weight {
			simd.Axpy(have, w, of(r))
		}
		if misfit(have, h, v) <= float64(q.latent) {
			break
		}
		simd.Div(scaled, have, v)
		for r := range weight {
			if sum := simd.Dot(of(r), scaled); sum > 0 {
				weight[r] *= want[r] / sum
			}
		}
	}
	rows := mat.NewDense(q.records, q.latent, nil)
	for r, w := range weight {
		simd.MulScalar(rows.RawRowView(r), q.row(r), math.Sqrt(w))
	}
	out := mat.NewSymDense(q.latent, nil)
	out.SymOuterK(1, rows.T())
	return out
}

// commonFactor is the a ≥ 0 for which Σ (a·have − h)²/v is least.
func commonFactor(have, h, v []float64) float64 {
	product, square := 0.0, 0.0
	for j, x := range have {
		product, square = product+x*h[j]/v[j], square+x*x/v[j]
	}
	return product / square
}

// misfit is Σ (have − h)²/v.
func misfit(have, h, v []float64) float64 {
	sum := 0.0
	for j, x := range have {
		sum += (x - h[j]) * (x - h[j]) / v[j]
	}
	return sum
}
