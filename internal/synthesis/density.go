package synthesis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/marginals"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// observation is the noisy sum of the records in neighbouring fine cells.
type observation struct {
	first, next int // fine cells
	count       float64
	variance    float64 // of the noise
}

// total is the variance of the noise and of a Poisson count.
func (o *observation) total() float64 { return o.variance + max(0, o.count) }

// observedCells has an observation for each of n fine cells.
func observedCells(counts []float64, n int, noise float64) (list []observation) {
	for i, y := range counts[:n] {
		list = append(list, observation{i, i + 1, y, noise * noise})
	}
	return list
}

// observedBins has an observation for each bin.
func (c *Column) observedBins(counts []float64, variance float64) (list []observation) {
	for b := range c.Bins {
		list = append(list, observation{c.Bins[b], c.next(b), counts[b], variance})
	}
	return list
}

// tailless takes the longest tails that do not exceed their noise for empty: each becomes one
// observation of no record. There the density declines as it did before.
func tailless(list []observation) []observation {
	tail := func(at func(i int) observation) (whole observation, length int) {
		sum := observation{variance: 0}
		for i := range list {
			o := at(i)
			sum.count += o.count
			sum.variance += o.variance
			if sum.count > tailNoise*math.Sqrt(sum.variance) {
				break
			}
			length, whole.variance = i+1, sum.variance
		}
		return whole, length
	}
	n := len(list)
	low, below := tail(func(i int) observation { return list[i] })
	high, above := tail(func(i int) observation { return list[n-1-i] })
	if below+above >= n {
		return list
	}
	low.next, high.first, high.next = list[below].first, list[n-1-above].next, list[n-1].next
	out := slices.Clone(list[below : n-above])
	if below > 0 {
		out = append(out, low)
	}
	if above > 0 {
		out = append(out, high)
	}
	return out
}

// tailNoise is the noise, in standard deviations, that the records of a tail must exceed.
const tailNoise = 1.5

// density finds log counts t of fine cells that minimise
//
//	Σ_o (y_o - Σ_i exp t_i)² / (2 total_o) + λ/2 Σ_j d_j²
//
// where d_j are second differences of the log density along the chain. λ has the highest
// evidence, by Laplace's approximation.
type density struct {
	observed []observation
	chain    []int        // cells with smooth density, in order
	second   [][3]float64 // by triple of neighbours in the chain: the weights of their second difference
	base     []float64    // by cell of the chain: the logarithm of its width
	t, count []float64    // by fine cell
}

const (
	leastPenalty, mostPenalty = -1, 5 // λ is 16 to a power between these
	densitySteps              = 40
	ridge                     = 1e-6 // of t, where nothing is observed
)

// density estimates the counts of fine cells from noisy sums. Cells that stand apart from
// their neighbours are not smoothed, nor are those of one value: zero and the upper bound.
func (c *Column) density(observed []observation, apart []bool) []float64 {
	d := &density{observed: observed, t: make([]float64, c.fine()), count: make([]float64, c.fine())}
	var at []float64
	for i := range c.fine() {
		from, to := c.ends(i)
		if from == to && !c.Whole || c.zero(i) || apart != nil && apart[i] {
			continue
		}
		if c.Whole {
			to++
		}
		a, b := c.coordinate(from), c.coordinate(to)
		d.chain, d.base, at = append(d.chain, i), append(d.base, math.Log(b-a)), append(at, (a+b)/2)
	}
	for j := 2; j < len(at); j++ {
		a, b := 1/(at[j-1]-at[j-2]), 1/(at[j]-at[j-1])
		scale := 2 / (a + b) // on a grid of cells the weights are 1, -2 and 1
		d.second = append(d.second, [3]float64{a * scale, -2, b * scale})
	}
	return d.best()
}

// zero reports whether the cell is that of zero, with a cut of its own.
func (c *Column) zero(cell int) bool {
	return cell == 0 && c.Lower == 0 && !(c.Whole && c.Upper < mostIntegers)
}

// coordinate is the place of a value on the grid of fine cells, in cells, see cuts.
func (c *Column) coordinate(x float64) float64 {
	width := c.Upper - c.Lower
	if c.Whole && width < mostIntegers {
		return x
	}
	u := gridCells * x / width
	least := c.Lower
	if least == 0 {
		least = leastValue(width, c.Whole)
	}
	if ratio := c.Upper / least; least > 0 && ratio > wideRatio {
		u += gridCells * math.Log(max(x, least)/least) / math.Log(ratio)
	}
	return u
}

// best are the counts at the λ with the highest evidence.
func (d *density) best() []float64 {
	for _, o := range d.observed {
		y := math.Log(max(o.count, math.Sqrt(o.variance)/2) / float64(o.next-o.first))
		for i := o.first; i < o.next; i++ {
			d.t[i] = y
		}
	}
	best, most := make([]float64, len(d.t)), math.Inf(-1)
	for power := mostPenalty; power >= leastPenalty; power-- {
		if e := d.fit(math.Pow(16, float64(power))); e > most {
			most = e
			copy(best, d.count)
		}
	}
	return best
}

// fit minimises from the present t by Newton's method with a positive Hessian, and returns
// the logarithm of the evidence for λ.
func (d *density) fit(lambda float64) float64 {
	n := len(d.t)
	h, g, step := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	var chol mat.Cholesky
	f, next := d.value(d.t, lambda), make([]float64, n)
	for range densitySteps {
		d.derivatives(g, h, lambda)
		if !chol.Factorize(h) || chol.SolveVecTo(step, g) != nil {
			return math.Inf(-1)
		}
		rate, gain := 1.0, 0.0
		for range 20 {
			for i := range next {
				next[i] = d.t[i] - rate*step.AtVec(i)
			}
			if v := d.value(next, lambda); v < f {
				gain, f = f-v, v
				copy(d.t, next)
				break
			}
			rate /= 2
		}
		if gain < 1e-4 {
			break
		}
	}
	d.derivatives(g, h, lambda)
	if !chol.Factorize(h) {
		return math.Inf(-1)
	}
	return -f + (float64(len(d.second))*math.Log(lambda)-chol.LogDet())/2
}

// value is the function that fit minimises.
func (d *density) value(t []float64, lambda float64) float64 {
	f := 0.0
	for _, x := range t {
		f += ridge / 2 * x * x
	}
	for _, o := range d.observed {
		r := o.count
		for _, x := range t[o.first:o.next] {
			r -= math.Exp(x)
		}
		f += r * r / (2 * o.total())
	}
	for j := range d.second {
		b := d.bend(t, j)
		f += lambda / 2 * b * b
	}
	return f
}

// bend is the second difference of the log density at the j-th triple of the chain.
func (d *density) bend(t []float64, j int) (b float64) {
	for a, w := range d.second[j] {
		b += w * (t[d.chain[j+a]] - d.base[j+a])
	}
	return b
}

// derivatives sets the counts, the gradient and the upper half of the Hessian, in which
// negative parts are left out.
func (d *density) derivatives(g *mat.VecDense, h *mat.SymDense, lambda float64) {
	n, raw := len(d.t), h.RawSymmetric().Data
	clear(raw)
	for i, t := range d.t {
		d.count[i] = math.Exp(t)
		g.SetVec(i, ridge*t)
		raw[i*n+i] = ridge
	}
	for _, o := range d.observed {
		r := -o.count
		for _, x := range d.count[o.first:o.next] {
			r += x
		}
		for i := o.first; i < o.next; i++ {
			x := d.count[i] / o.total()
			g.SetVec(i, g.AtVec(i)+r*x)
			raw[i*n+i] += max(0, r) * x
			for j := i; j < o.next; j++ {
				raw[i*n+j] += x * d.count[j]
			}
		}
	}
	for j, w := range d.second {
		bend := d.bend(d.t, j)
		for a := range w {
			i := d.chain[j+a]
			g.SetVec(i, g.AtVec(i)+lambda*bend*w[a])
			for b := a; b < len(w); b++ {
				raw[i*n+d.chain[j+b]] += lambda * w[a] * w[b]
			}
		}
	}
}

// departed are the counts of observations, none negative, given smooth counts of fine cells.
// True counts depart from smooth ones by chance or more; of the observed departure a part is
// noise.
func departed(smooth []float64, observed []observation) []float64 {
	out := make([]float64, len(observed))
	squares, sum := 0.0, 1e-9
	for j, o := range observed {
		for _, x := range smooth[o.first:o.next] {
			out[j] += x
		}
		r := o.count - out[j]
		squares += r*r - o.variance
		sum += out[j]
	}
	excess := max(1, squares/sum)
	for j, o := range observed {
		v := excess * out[j]
		out[j] = max(0, out[j]+v/(v+o.variance)*(o.count-out[j]))
	}
	return out
}

// shape sets the counts of fine cells from the noisy ones of bins and of fine cells, where
// there are any.
func (c *Column) shape(bins []float64, variance float64, counts []float64, noise float64) {
	observed, apart := tailless(c.observedBins(bins, variance)), []bool(nil)
	if counts != nil {
		observed = append(observed, tailless(observedCells(counts, c.fine(), noise))...)
		apart = c.spikes(counts, noise)
	}
	smooth := c.density(observed, apart)
	c.Shape = smooth
	if counts != nil {
		c.Shape = departed(smooth, observedCells(counts, c.fine(), noise))
	}
	for b := range c.Bins {
		was, sum := 0.0, 0.0
		for i := c.Bins[b]; i < c.next(b); i++ {
			was += smooth[i]
			sum += c.Shape[i]
		}
		for i := c.Bins[b]; i < c.next(b); i++ {
			if sum > 0 {
				c.Shape[i] *= was / sum
			} else {
				c.Shape[i] = max(c.width(i), 1e-300)
			}
		}
	}
}

// estimated are a column's counts, none negative, given those on which the released tables
// agree: bins follow the shape as far as their departure from it may be noise.
func (c *Column) estimated(counts []float64, variance float64) []float64 {
	list := marginals.Nonnegative(counts, c.ordered())
	if c.Levels > 0 {
		return list
	}
	bins := list[:len(c.Bins)]
	sum, got := simd.Sum(bins), departed(c.Shape, c.observedBins(counts, variance))
	if total := simd.Sum(got); total > 0 && total < sum {
		simd.MulScalar(got, got, sum/total) // a subtraction from all may be noise, an addition is not
	}
	copy(bins, stats.Simplex(got, sum))
	return list
}
