package pairs

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// SampledGroup is a Poisson batch as K records see it that are all in the table or
// none of them: i are in the batch with probability w_i = binom(K,i) q^i (1-q)^(K-i),
// and move its sum by a vector of norm at most i.
//
// As in the proof of substitutePiece, for every set A with N_0(A) = p each component
// has Phi(Phi⁻¹(p)-i) <= N_a(A) <= Phi(Phi⁻¹(p)+i), and one half space reaches the
// bound for all components at once (Ganesh 2024, arXiv:2401.10294).
type SampledGroup struct {
	s    float64
	Some float64 // W = 1 - w_0
	// logWeight[i-1] is log(w_i/W), i = 1..K.
	logWeight []float64
}

// NewSampledGroup is that of K = size records at sampling rate q and noise multiplier s.
func NewSampledGroup(s, q float64, size int) SampledGroup {
	g := SampledGroup{s: s, Some: -math.Expm1(float64(size) * math.Log1p(-q)), logWeight: make([]float64, size)}
	choose := 1.0
	for i := 1; i <= size; i++ {
		choose *= float64(size-i+1) / float64(i)
		w := choose
		for range i {
			w *= q
		}
		for range size - i {
			w *= 1 - q
		}
		g.logWeight[i-1] = math.Log(w / g.Some) // -Inf below 1e-308, which is negligible
	}
	return g
}

// Pair is the dominating pair of removing the group, or of adding it.
func (g SampledGroup) Pair(add bool) *Pair {
	end := math.Log1p(-g.Some)
	if add {
		return &Pair{Smooth: true, End: -end, Ceiling: true, Pieces: []Piece{addPiece(g)}}
	}
	return &Pair{Smooth: true, Apart: subsampled{s: g.s}.apart(), End: end, Pieces: []Piece{removePiece(g)}}
}

// ratio is y = log Σ w_i/W e^{(2ix-i²)/(2s²)}, which is convex and increases, and its
// slope, from 1/s² to K/s².
func (g SampledGroup) ratio(x float64) (y, slope float64) {
	top := math.Inf(-1)
	for i := range g.logWeight {
		top = math.Max(top, g.term(i, x))
	}
	sum, first := 0.0, 0.0
	for i := range g.logWeight {
		p := math.Exp(g.term(i, x) - top)
		sum += p
		first += p * float64(i+1)
	}
	return top + math.Log(sum), first / sum / (g.s * g.s)
}

func (g SampledGroup) term(i int, x float64) float64 {
	shift := float64(i + 1)
	return g.logWeight[i] + shift*(2*x-shift)/(2*g.s*g.s)
}

// Loss implements sampled: L(x) = log(w_0 + W e^y).
func (g SampledGroup) Loss(x float64) float64 {
	y, _ := g.ratio(x)
	return lossOf(g.Some, y)
}

// Inverse implements sampled, by Newton's method from the right: there every step
// stays right of the solution.
func (g SampledGroup) Inverse(l float64) float64 {
	want := ratioOf(g.Some, l)
	if math.IsInf(want, 0) {
		return want
	}
	x := math.Inf(1)
	for i, w := range g.logWeight { // for a term that is as large alone
		if shift := float64(i + 1); !math.IsInf(w, -1) {
			x = math.Min(x, g.s*g.s*(want-w)/shift+shift/2)
		}
	}
	for range 50 {
		y, slope := g.ratio(x)
		next := x - (y-want)/slope
		if !(next < x) {
			break
		}
		x = next
	}
	return x
}

// mixtureTail implements sampled.
func (g SampledGroup) mixtureTail(x float64) float64 {
	sum := (1 - g.Some) * numeric.NormalTail(x/g.s)
	for i, w := range g.logWeight {
		sum += g.Some * math.Exp(w) * numeric.NormalTail((x-float64(i+1))/g.s)
	}
	return sum
}

// noise and most implement sampled. e^L is a polynomial in e^{x/s²} whose zeros
// are negative, as those of ((1-q) + q e^{x/s²})^K are (factors e^{-i²/(2s²)} keep them
// real: Pólya and Schur 1914), so that L is smooth on the same scale as for one record.
func (g SampledGroup) noise() float64 { return g.s }

func (g SampledGroup) most() float64 { return float64(len(g.logWeight)) }
