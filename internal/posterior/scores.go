package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/privacy/noise"
	"d3p/internal/simd"
)

// scores are the gradients of records that the model simulates at a point θ, one a
// row. They span what an information matrix can be there: Σ w_r g_r g_rᵀ, w ≥ 0.
// Directions in which no record has a gradient stay exact, such as an intercept
// against the effects of groups when every record is in one of them.
type scores struct {
	latent    int // P, columns
	records   int // rows
	gradients []float64
}

// scoreRecords and, if that is more, recordsPerScore per parameter is the number of simulated records, large
// enough that correlations by chance are small.
const scoreRecords, recordsPerScore = 4000, 13

// newScores simulates records of m at theta (P), with the columns' law l, and takes their
// gradients.
func newScores(m *models.Model, theta []float64, l *law.Law, rng *noise.Random) scores {
	machine, batch := graph.NewMachine(m.Likelihood, simulationBatch), mat.NewDense(simulationBatch, m.P, nil)
	q := scores{latent: m.P}
	for range max(scoreRecords, recordsPerScore*m.P) / simulationBatch {
		runAt(machine, m, theta, l, rng, batch)
		for r := range simulationBatch {
			if g := batch.RawRowView(r); simd.Finite(g) {
				q.gradients = append(q.gradients, g...)
				q.records++
			}
		}
	}
	return q
}

// row is the gradient of record r.
func (q scores) row(r int) []float64 { return q.gradients[r*q.latent : (r+1)*q.latent] }

// information is the diagonal (P) of the information that `records` records have
// when gradients are clipped at clipNorm.
func (q scores) information(clipNorm float64, records int) []float64 {
	out := make([]float64, q.latent)
	for r := range q.records {
		addClippedInformation(out, q.row(r), clipNorm, float64(records)/float64(q.records))
	}
	return out
}

// perRecord is the mean information of a record, not clipped, among the coordinates index.
func (q scores) perRecord(index []int) *mat.SymDense {
	out := mat.NewSymDense(q.latent, nil)
	out.SymOuterK(1/float64(q.records), mat.NewDense(q.records, q.latent, q.gradients).T())
	return submatrix(out, index)
}

// perParameter is the effective number of records per parameter. With few, correlations are
// chance: so where the model predicts most simulated records nearly surely, which then have
// no gradient.
func (q scores) perParameter() float64 { return q.effective() / float64(q.latent) }

// effective is the effective number of records, (Σ x)²/Σ x², where x_r adds up the squares of
// record r's gradient, each over the sum of that coordinate's squares.
func (q scores) effective() float64 {
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
	return first * first / second
}

// haveGradients reports for each coordinate whether some record has a gradient in it.
func (q scores) haveGradients() []bool {
	list := make([]bool, q.latent)
	for r := range q.records {
		for j, x := range q.row(r) {
			list[j] = list[j] || x != 0
		}
	}
	return list
}

// of is the scores in the coordinates index. A coordinate in which no record has a
// gradient, such as the effect of a missing value, gets a separate record.
func (q scores) of(index []int) scores {
	out := scores{latent: len(index), records: q.records}
	for r := range q.records {
		out.gradients = append(out.gradients, pick(q.row(r), index)...)
	}
	for i, is := range out.haveGradients() {
		if !is {
			alone := make([]float64, len(index))
			alone[i] = 1
			out.gradients = append(out.gradients, alone...)
			out.records++
		}
	}
	return out
}

// pick is x at index.
func pick(x []float64, index []int) []float64 {
	out := make([]float64, len(index))
	for i, j := range index {
		out[i] = x[j]
	}
	return out
}

// weightRounds is the number of updates of the weights.
const weightRounds = 100

// matrix is the information matrix Σ w_r g_r g_rᵀ whose diagonal is h (P), h ≥ 0,
// which was measured with variance v (P). The weights w are least squares by the
// multiplicative updates of Lee and Seung 2001 (Algorithms for non-negative matrix
// factorization, NIPS 13), from equal ones. They stop where the diagonal differs
// from h as much as h differs from the truth, Σ (diagonal − h)²/v ≤ P (Morozov's
// discrepancy principle). Further updates would follow the noise in h: where it
// makes the information of a few records' level larger than that of all records,
// nothing would be left for the others.
func (q scores) matrix(h, v []float64) *mat.SymDense {
	square := make([]float64, len(q.gradients))
	simd.Mul(square, q.gradients, q.gradients)
	of := func(r int) []float64 { return square[r*q.latent : (r+1)*q.latent] }
	have, want := make([]float64, q.latent), make([]float64, q.records)
	scaled := make([]float64, q.latent)
	floats.DivTo(scaled, h, v)
	for r := range want {
		simd.Add(have, have, of(r))
		want[r] = simd.Dot(of(r), scaled)
	}
	weight := slices.Repeat([]float64{commonFactor(have, h, v)}, q.records)
	for range weightRounds {
		clear(have)
		for r, w := range weight {
			simd.Axpy(have, w, of(r))
		}
		if misfit(have, h, v) <= float64(q.latent) {
			break
		}
		floats.DivTo(scaled, have, v)
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

// part is the matrix of the fractions of the information h (P) about the free parameters.
func (q scores) part(h, v, fraction []float64, free []int) *mat.SymDense {
	h, v = slices.Clone(h), slices.Clone(v)
	for k, x := range fraction {
		h[k] *= x
		v[k] *= x * x
	}
	return q.matrix(pick(h, free), pick(v, free))
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
