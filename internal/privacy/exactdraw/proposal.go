package exactdraw

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"d3p/internal/privacy/noise"
)

// spacing is that of the lattice of φ.
const spacing = 0x1p-36

// coarse is the number of cells in a standard deviation of a proposal: the multiples of the
// spacing on which noise.AddGaussian puts a standard normal.
const coarse = 1024

// proposal is a mixture of laws on the lattice, nearly normal around the mode and with the
// same shape. Each dimension, from the last to the first, is centred given those before it;
// its place is that of a standard normal rounded to cells, times the width of a cell, plus a
// uniform place within the cell. So its probabilities are known. They depend on records, and
// decide how long a draw takes, but not its law.
type proposal struct {
	d       int
	mode    []float64
	towards []float64   // weights (d×d) of the later dimensions in the centre of one
	base    []float64   // (d) cells' width of the curvature itself
	widths  [][]int64   // of each component (d)
	upTo    []uint64    // the word below which a component or one before it is chosen
	log     []float64   // log of a component's probability less those of its widths
	least   []float64   // the least width of a component in units of base
	scale   [2]float64  // |φ − φ*| in the metric of A is between r and these factors
	slip    float64     // and this much further, which the rounding of centres adds
	normals [64]float64 // of the source, the last left of them unused
	left    int
}

// Each component is spread times as wide as the one before it. A mixture has at most
// mostComponents.
const spread, mostComponents = 1.25, 32

// newProposal is the mixture of the curvature with this root, whose components have the
// weights of shares (by component; nil: equal).
func newProposal(mode []float64, root *mat.Cholesky, prior float64) *proposal {
	d := len(mode)
	var c mat.TriDense
	root.LTo(&c)
	q := &proposal{d: d, mode: mode, towards: make([]float64, d*d), base: make([]float64, d), scale: [2]float64{1, 1}}
	for i := range d {
		for j := i + 1; j < d; j++ {
			q.towards[i*d+j] = -c.At(j, i) / c.At(i, i)
		}
		q.base[i] = max(1, math.RoundToEven(1/(c.At(i, i)*spacing*coarse)))
		unit := coarse * q.base[i] * c.At(i, i) * spacing
		q.scale[0], q.scale[1] = min(q.scale[0], unit), max(q.scale[1], unit)
		q.slip += c.At(i, i) * spacing
	}
	widest := 2 / math.Sqrt(prior)
	n := min(mostComponents, 1+int(math.Ceil(math.Log(widest)/math.Log(spread))))
	for k := range n {
		s := 1.0
		if n > 1 {
			s = math.Pow(widest, float64(k)/float64(n-1))
		}
		widths, least := make([]int64, d), math.Inf(1)
		for i, w := range q.base {
			widths[i] = int64(math.Ceil(s * w))
			least = min(least, float64(widths[i])/w)
		}
		q.widths, q.least = append(q.widths, widths), append(q.least, least)
	}
	q.log, q.upTo = make([]float64, n), make([]uint64, n)
	return q
}

// share gives the components these probabilities, rounded to multiples of 2^-64.
func (q *proposal) share(shares []float64) {
	before, sum := uint64(0), 0.0
	for k, share := range shares {
		sum += share
		q.upTo[k] = uint64(min(sum, 1-0x1p-53) * 0x1p64)
		if k == len(shares)-1 {
			q.upTo[k] = math.MaxUint64 // the largest word is drawn again
		}
		q.log[k] = math.Log(float64(q.upTo[k]-before)) - 64*math.Ln2
		for _, w := range q.widths[k] {
			q.log[k] -= math.Log(float64(w))
		}
		before = q.upTo[k]
	}
}

// centre is that of dimension i, given the later ones of place, in units of the spacing.
func (q *proposal) centre(place []int64, i int) int64 {
	c := q.mode[i]
	for j := i + 1; j < q.d; j++ {
		c += q.towards[i*q.d+j] * (float64(place[j])*spacing - q.mode[j])
	}
	return int64(math.RoundToEven(max(-0x1p60, min(c/spacing, 0x1p60))))
}

// draw sets place (d) to a draw, in units of the spacing. It reports false if a number is
// too large to be one.
func (q *proposal) draw(place []int64, src *noise.Stream) bool {
	word := src.Uint64()
	for word == math.MaxUint64 {
		word = src.Uint64()
	}
	k := 0
	for word >= q.upTo[k] {
		k++
	}
	for i := q.d - 1; i >= 0; i-- {
		width := q.widths[k][i]
		if q.left == 0 {
			clear(q.normals[:])
			src.AddGaussian(q.normals[:], 1)
			q.left = len(q.normals)
		}
		q.left--
		cell := int64(q.normals[q.left] * coarse)
		place[i] = q.centre(place, i) + cell*width + int64(src.Uint64n(uint64(width))) - width/2
		if bits.Len64(uint64(max(place[i], -place[i]))) > 52 {
			return false
		}
	}
	return true
}

// logCell is the log probability that a standard normal is rounded to a cell, but for a
// constant, to 1e-10 for the cells within 40 standard deviations: exp(−z²/2) at its middle
// times the mean of exp(−zt) over the cell.
func logCell(cell int64) float64 {
	z := float64(cell) / coarse
	x := z / (2 * coarse)
	square := x * x
	return -z*z/2 + square/6*(1-square/30)
}

// logProbability is the log of the probability of place, but for a constant.
func (q *proposal) logProbability(place []int64) float64 {
	var each [mostComponents]float64
	copy(each[:], q.log)
	for i := range q.d {
		v := place[i] - q.centre(place, i)
		for k, widths := range q.widths {
			w := widths[i]
			cell := (v + w/2) / w
			if (v+w/2)%w < 0 {
				cell--
			}
			each[k] += logCell(cell)
		}
	}
	return floats.LogSumExp(each[:len(q.widths)])
}

// atLeast is a lower bound of logProbability where (Σ_i (v_i/(coarse·base_i))²)^½ ≤ r, v the
// places from their centres.
func (q *proposal) atLeast(r float64) float64 {
	var each [mostComponents]float64
	half := math.Sqrt(float64(q.d)) / (2 * coarse) // the middle of a cell is so much further
	for k, s := range q.least {
		z := r/s + half
		each[k] = q.log[k] - z*z/2
	}
	return floats.LogSumExp(each[:len(q.least)])
}
