package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// lowFrequencies computes Σ_j x_j e^{-2πijk/n} for a few small k. Where the product of
// many lattices has no other coefficients left, the next lattice needs no transform of
// n points. A coefficient is wrong by at most 10 u log2(n) ‖x‖₁ (package documentation,
// theorem 1).
//
// The sum over a block of 2r points is expanded in the moments of the block, r the
// largest power of two that n and the largest k allow: e^(-iω(j-c)) = Σ_d (-iωr)^d/d!
// ((j-c)/r)^d. With ωr <= 1/4 what 13 terms leave out is below 0.03u. (j-c)/r is exact, and
// a moment adds up sums of at most 32 points, so it takes at most 12 products and
// 31 + r/16 sums: (43 + r/16)u of the block's 1-norm. The weights have at most 4d+2
// roundings each and add up to e^(1/4): moments, weights and sum bring 55.3u + 0.081ru + 4u
// + 9u. Four blocks are rotated to the first one, added up and rotated once more: an angle
// is at most π and exact but for 3 roundings, so with sine, cosine and product a rotation
// brings (3π + 4 + 2.83)u, and both with three sums 1.29 (2 16.3 + 3)u < 46u; the
// compensated sum brings 2u. Together below 117u + 0.081ru. That is below 10 u log2(n) for
// n >= 4096 and n >= 128r.
type lowFrequencies struct {
	n, radius int
	blocks    []momentBlock
	weights   [lowTerms]float64 // (ω radius)^d / d!, ω = 2πk/n
}

// momentBlock has the moments Σ_j x_j ((j-center)/radius)^d of a block of points.
type momentBlock struct {
	center int
	moment [lowTerms]float64
}

const (
	leastRadius, largestRadius = 4, 256
	// leastPerRadius and leastLowPoints are the least n, over the radius and by itself, for
	// which the error is below that of a dft
	leastPerRadius = 128
	leastLowPoints = 1 << 12
	lowTerms       = 13
	// lowPhase is the largest ω radius
	lowPhase = 0.25
	// pointsAtOnce is how many points are added up before their sum joins a moment, and
	// blocksAtOnce how many blocks before theirs joins the coefficient
	pointsAtOnce = 32
	blocksAtOnce = 4
)

// highestLow is the largest k.
func highestLow(n int) int {
	if n < leastLowPoints {
		return -1
	}
	return highestFor(n, leastRadius)
}

// highestFor is the largest k for blocks of that radius.
func highestFor(n, radius int) int {
	return int(lowPhase * float64(n) / (2 * math.Pi * float64(radius)))
}

// lowRadius is the radius of blocks for coefficients up to k, at most highestLow(n).
func lowRadius(n, k int) int {
	r := leastRadius
	for r < min(largestRadius, n/leastPerRadius) && k <= highestFor(n, 2*r) {
		r *= 2
	}
	return r
}

// take reads the sequence whose entry j-center is x[j], for coefficients up to k.
func (f *lowFrequencies) take(n, k int, x []float64, center int) {
	f.n, f.radius, f.blocks = n, lowRadius(n, k), f.blocks[:0]
	inverse := 1 / float64(f.radius)
	for from := 0; from < len(x); from += 2 * f.radius {
		b := momentBlock{center: from + f.radius - center}
		block := x[from:min(len(x), from+2*f.radius)]
		for begin := 0; begin < len(block); begin += pointsAtOnce {
			var part [lowTerms]float64
			for j, v := range block[begin:min(len(block), begin+pointsAtOnce)] {
				t := float64(begin+j-f.radius) * inverse
				for d := range part {
					part[d] += v
					v *= t
				}
			}
			for d, v := range part {
				b.moment[d] += v
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
		w *= turn * float64(k) * float64(f.radius) / float64(d+1)
	}
	rotation := func(points int) (sn, cs float64) { return math.Sincos(turn * float64(wrapped(points*k, f.n))) }
	var sines, cosines [blocksAtOnce]float64
	for i := range blocksAtOnce {
		sines[i], cosines[i] = rotation(2 * f.radius * i)
	}
	var re, im numeric.Sum
	for from := 0; from < len(f.blocks); from += blocksAtOnce {
		var x, y float64 // Σ of the blocks, rotated to the first: x - iy
		for i := range f.blocks[from:min(len(f.blocks), from+blocksAtOnce)] {
			b := &f.blocks[from+i]
			var even, odd float64 // Σ (-i)^d weight moment = even - i odd
			for d := lowTerms - 1; d >= 1; d -= 2 {
				even = f.weights[d]*b.moment[d] - even
				odd = f.weights[d-1]*b.moment[d-1] - odd
			}
			even = b.moment[0] - even
			x += even*cosines[i] - odd*sines[i]
			y += even*sines[i] + odd*cosines[i]
		}
		sn, cs := rotation(f.blocks[from].center)
		re.Add(x*cs - y*sn)
		im.Add(-x*sn - y*cs)
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
