package sufficient

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Moments are noisy second moments of the records. Their bound gives a record a weight w ≤ 1.
// Weights keep the normal equations: Σwxy = Σwxxᵀγ + Σwxe.
type Moments struct {
	P int `json:"p"`
	// Values is the upper triangle of Σw(x, y)(x, y)ᵀ, row by row: (P+1)(P+2)/2 numbers.
	Values []float64 `json:"values"`
	// Noise is the standard deviation of the noise of each.
	Noise float64 `json:"noise"`
	// Cut is what the bound cuts off each: Σ(1 − w)(x, y)(x, y)ᵀ.
	Cut []float64 `json:"cut,omitempty"`
	// Pull (P×P) is what weights, which are smaller for large responses, take from the slopes:
	// the mean of Σwxe is −Pull·γ.
	Pull []float64 `json:"pull,omitempty"`
	// Lost is the part of Σe² that the bound cuts off.
	Lost float64 `json:"lost,omitempty"`
	// Unknown is the standard deviation of the errors of Cut, Pull and Lost, as a part of them.
	Unknown float64 `json:"unknown,omitempty"`
	// Records is n, RecordsSD the standard deviation of its noise.
	Records   float64 `json:"records"`
	RecordsSD float64 `json:"records_sd"`
}

// At is entry i, j of the moments without weights; P is the place of the response.
func (m *Moments) At(i, j int) float64 { return m.Weighted(i, j) + m.cut(i, j) }

// Weighted is entry i, j of the moments as released.
func (m *Moments) Weighted(i, j int) float64 { return m.Values[m.place(i, j)] }

// cut is what the bound cuts off entry i, j.
func (m *Moments) cut(i, j int) float64 {
	if m.Cut == nil {
		return 0
	}
	return m.Cut[m.place(i, j)]
}

// pull is entry i, j of Pull.
func (m *Moments) pull(i, j int) float64 {
	if m.Pull == nil {
		return 0
	}
	return m.Pull[i*m.P+j]
}

// Sloping is entry i, j of the matrix A with Σwxy = Aγ in the mean.
func (m *Moments) Sloping(i, j int) float64 { return m.Weighted(i, j) - m.pull(i, j) }

// place is the place of entry i, j in Values.
func (m *Moments) place(i, j int) int {
	i, j = min(i, j), max(i, j)
	return i*(2*(m.P+1)-i-1)/2 + j
}

// Design is Σxxᵀ.
func (m *Moments) Design() *mat.SymDense { return m.design(m.At) }

// design has the entries of the design's columns.
func (m *Moments) design(entry func(i, j int) float64) *mat.SymDense {
	s := mat.NewSymDense(m.P, nil)
	for i := range m.P {
		for j := range i + 1 {
			s.SetSym(i, j, entry(i, j))
		}
	}
	return s
}

// weakNoise is the noise of the moments, by record, above which S is weakly known. There a
// flat prior of S would favour γ near the places of the steps, because small moments are
// improbable under it. So the density leaves out the determinant of the noise, and γ is as
// uncertain as by the test of Anderson and Rubin (1949), whatever S is.
const weakNoise = 0.12

// Weak reports whether S is weakly known.
func (m *Moments) Weak() bool { return m.Noise > weakNoise*m.Records }

// hides reports whether noise hides a direction of S: S as released is not positive. Steps end where S(γ − at)
// is nearly 0. Along such a direction it is, wherever γ is; but a flat S would be 0 there by chance alone, and
// so the place at, which follows from the noise, would seem to be γ.
func (m *Moments) hides() bool {
	var e mat.EigenSym
	return !e.Factorize(m.design(m.Weighted), false) || e.Values(nil)[0] < 0
}

// Residual is the sum of squares that the regression of the moments leaves, by the nearest
// design without small eigenvalues; it may be negative.
func (m *Moments) Residual() float64 {
	s := floored(m.design(m.Weighted), m.Noise*math.Sqrt(float64(m.P)))
	with, solved := mat.NewVecDense(m.P, nil), mat.NewVecDense(m.P, nil)
	for j := range m.P {
		with.SetVec(j, m.Weighted(j, m.P))
	}
	var c mat.Cholesky
	if !c.Factorize(s) || c.SolveVecTo(solved, with) != nil {
		return m.At(m.P, m.P)
	}
	return (m.Weighted(m.P, m.P) - mat.Dot(with, solved)) / (1 - m.Lost)
}
