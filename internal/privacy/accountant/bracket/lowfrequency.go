package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// lowFrequencies computes Σ_j x_j e^{-2πijk/n} for a few small k. Where the product of
// many lattices has no other coefficients left, the next lattice needs no transform of
// n points. A coefficient is wrong by at most 10 u log2(n) ‖x‖₁ (docs/design/accounting.md,
// theorem 1).
//
// The sum over a block of 2r = 2 lowRadius points is expanded in the moments of the
// block: e^(-iω(j-c)) = Σ_d (-iωr)^d/d! ((j-c)/r)^d. With ωr <= 1/4 what 13 terms leave
// out is below 0.03u. (j-c)/r is exact, so a moment takes at most 12 products and 31
// sums: 44u of the block's 1-norm. The weights have at most 4d+2 roundings each and add
// up to e^(1/4): moments, weights and sum bring 57u + 4u + 9u. The angle is at most π and
// exact but for 3 roundings; with sine, cosine and rotation 1.3 (3π + 4 + 2.83)u < 22u;
// the compensated sum of the blocks brings 2u. Together below 100u, and log2(n) >= 10.
type lowFrequencies struct {
	n       int
	blocks  []momentBlock
	weights [lowTerms]float64 // (ω lowRadius)^d / d!, ω = 2πk/n
}

// momentBlock has the moments Σ_j x_j ((j-center)/lowRadius)^d of a block of points.
type momentBlock struct {
	center int
	moment [lowTerms]float64
}

const (
	lowRadius = 16
	lowTerms  = 13
	// lowPhase is the largest ω lowRadius
	lowPhase = 0.25
	// leastLowPoints is the least n for which the error is below that of a dft
	leastLowPoints = 1 << 10
)

// highestLow is the largest k.
func highestLow(n int) int {
	if n < leastLowPoints {
		return -1
	}
	return int(lowPhase * float64(n) / (2 * math.Pi * lowRadius))
}

// take reads the sequence whose entry j-center is x[j].
func (f *lowFrequencies) take(n int, x []float64, center int) {
	f.n, f.blocks = n, f.blocks[:0]
	for from := 0; from < len(x); from += 2 * lowRadius {
		b := momentBlock{center: from + lowRadius - center}
		for j, v := range x[from:min(len(x), from+2*lowRadius)] {
			t := float64(j-lowRadius) / lowRadius
			for d := range b.moment {
				b.moment[d] += v
				v *= t
			}
		}
		f.blocks = append(f.blocks, b)
	}
}

// coefficient is Σ_j x_j e^{-2πijk/n}.
func (f *lowFrequencies) coefficient(k int) complex128 {
	turn := 2 * math.Pi / float64(f.n)
	w := 1.0
	for d := range f.weights {
		f.weights[d] = w
		w *= turn * float64(k) * lowRadius / float64(d+1)
	}
	var re, im numeric.Sum
	for i := range f.blocks {
		b := &f.blocks[i]
		var even, odd float64 // Σ (-i)^d weight moment = even - i odd
		for d := lowTerms - 1; d >= 1; d -= 2 {
			even = f.weights[d]*b.moment[d] - even
			odd = f.weights[d-1]*b.moment[d-1] - odd
		}
		even = b.moment[0] - even
		sn, cs := math.Sincos(turn * float64(wrapped(b.center*k, f.n)))
		re.Add(even*cs - odd*sn)
		im.Add(-even*sn - odd*cs)
	}
	return complex(re.Value(), im.Value())
}

// wrapped is i modulo n, a power of two, between -n/2 and n/2.
func wrapped(i, n int) int {
	if i = Mod(i, n); i > n/2 {
		return i - n
	}
	return i
}
