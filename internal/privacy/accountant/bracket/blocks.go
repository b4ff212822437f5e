package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// block composes n steps and puts the sum on the coarse grid, as one lattice
// that can be composed further: spread over grid points when up is set, merged
// into them otherwise. Coarse points cost accuracy once a block and once a
// rare loss, not once a step.
func (l *Separated) block(n float64, r *PartPlan, up bool) *Lattice {
	a := &blockSum{Separated: l, h: r.Coarse, origin: math.Min(n*l.mean, (n-float64(l.Most))*l.mean), up: up, convolution: NewConvolution(r.Wide, 1), sum: make([]complex128, r.Wide/2+1)}
	a.prepareRare()
	rest := l.Counts(n, func(k int, logWeight float64) { a.add(n, k, logWeight) })
	a.logTotal = l.logTotal(n)
	return a.lattice(l.blockMean(n), r, l.infinity(n), rest)
}

// blockMean is the tilted mean of n steps.
func (l *Separated) blockMean(n float64) float64 {
	if l.Rare == nil {
		return n * l.mean
	}
	share := math.Exp(l.LogRare - numeric.LogAddExp(l.LogBulk, l.LogRare))
	return n * ((1-share)*l.mean + share*l.rareMean)
}

// blockSum is a block while the numbers of rare losses are added up, in terms
// of Fourier transforms on the coarse grid.
type blockSum struct {
	*Separated
	h, origin   float64
	up          bool
	convolution *Convolution
	sum         []complex128
	rareOnce    []complex128 // transform of one rare loss
	power       []complex128 // and of k
	rareNorm    float64
	norms       float64 // 2-norms of what was transformed, weighted
	slack       float64
	logTotal    float64
	ingredients []ingredient
}

// ingredient is the bulk of the steps with k rare losses, on the coarse grid.
type ingredient struct {
	k         int
	logWeight float64
	start     float64 // loss of the first point
	mass      []float64
}

func (a *blockSum) prepareRare() {
	if a.Rare == nil {
		return
	}
	w, _ := a.Rare.tilted(a.theta)
	size := len(a.convolution.seq)
	for i, x := range w {
		a.convolution.seq[Mod(a.Rare.first+i, size)] += x
		a.rareNorm += x * x
	}
	a.rareNorm = math.Sqrt(a.rareNorm)
	a.rareOnce = make([]complex128, len(a.convolution.coeff))
	a.convolution.fft.coefficients(a.rareOnce, a.convolution.seq)
}

// add adds the case of k rare losses among n; k rises by one from call to call.
func (a *blockSum) add(n float64, k int, logWeight float64) {
	s := a.bulkSum(n - float64(k))
	weight := math.Exp(logWeight)
	g := blockGrid{theta: a.theta, h: a.h, origin: a.origin, up: a.up}
	first, mass := g.coarsen(s)
	a.ingredients = append(a.ingredients, ingredient{k, logWeight, g.origin + float64(first)*a.h, mass})
	clear(a.convolution.seq)
	norm := 0.0
	for i, x := range mass {
		a.convolution.seq[Mod(first+i, len(a.convolution.seq))] += x
		norm += x * x
	}
	// transforms of the bulk and of k rare losses, and k+2 products of relative
	// error 3u (theorem 3)
	products := 1 + 3*numeric.Unit*float64(k+2)/transformError(len(a.convolution.seq))
	a.norms += weight * (products*math.Sqrt(norm) + float64(k)*a.rareNorm)
	// the bulk's own error, and as much again for masses set to zero
	a.slack += weight * (2*s.allowance + s.relative*largestStick(a.theta))
	coeff := a.convolution.coeff
	a.convolution.fft.coefficients(coeff, a.convolution.seq)
	switch {
	case k == 1:
		a.power = append(a.power, a.rareOnce...)
	case k > 1:
		for i, z := range a.rareOnce {
			a.power[i] *= z
		}
	}
	for i, z := range coeff {
		z *= complex(weight, 0)
		if k > 0 {
			z *= a.power[i]
		}
		a.sum[i] += z
	}
}

// lattice transforms back.
func (a *blockSum) lattice(mean float64, r *PartPlan, infinity, rest float64) *Lattice {
	size := len(a.convolution.seq)
	c := a.convolution.seq
	a.convolution.fft.sequence(c, a.sum)
	from := int(math.Floor((mean - r.Whole.Below - a.origin) / a.h))
	b := &Lattice{H: a.h, origin: a.origin, first: from, Mass: make([]float64, size), infinity: infinity, Partial: true, tilt: a.theta, logZ: a.logTotal, moment: a.logMoment}
	square := 0.0
	for i := range b.Mass {
		x := c[Mod(from+i, size)]
		square += x * x
		b.Mass[i] = math.Max(0, x)
	}
	rounding := (1 + 1e-6) * transformError(size) * (a.norms + math.Sqrt(square))
	start := a.origin + float64(from)*a.h
	end := start + float64(size-1)*a.h
	w := r.Whole
	outside := math.Exp(a.logMoment(a.theta+w.LambdaAbove)-a.logTotal-w.LambdaAbove*end) + math.Exp(a.logMoment(a.theta-w.LambdaBelow)-a.logTotal+w.LambdaBelow*start)
	slack := a.slack + (outside+rest)*largestStick(a.theta) + rounding*stickNorm(a.theta, a.h)
	b.noise = func(theta, h float64) float64 { return a.logTotal + math.Log(slack/stickNorm(theta, h)) }
	return b
}

// logMoment is log E[e^{tL}] of the block, without the errors of its transforms.
func (a *blockSum) logMoment(t float64) float64 {
	sum := math.Inf(-1)
	rare := 0.0
	if a.Rare != nil {
		rare = a.Rare.logMoment(t) - a.LogRare
	}
	for _, g := range a.ingredients {
		step := (t - a.theta) * a.h
		top := math.Max(0, step*float64(len(g.mass)-1))
		m := 0.0
		for i, x := range g.mass {
			m += x * math.Exp(step*float64(i)-top)
		}
		sum = numeric.LogAddExp(sum, g.logWeight+math.Log(m)+top+(t-a.theta)*g.start+float64(g.k)*rare)
	}
	return a.logTotal + sum
}

// blockGrid puts sums on a coarser grid.
type blockGrid struct {
	theta, h, origin float64
	up               bool
}

// coarsen spreads or merges the sum's masses, tilted before and after.
func (b *blockGrid) coarsen(s *tiltedSum) (first int, mass []float64) {
	lo, hi := 0, len(s.point)-1
	for lo < hi && s.point[lo] < s.tiny {
		lo++
	}
	for hi > lo && s.point[hi] < s.tiny {
		hi--
	}
	loss := func(j int) float64 { return s.start + float64(j)*s.h }
	first = int(math.Floor((loss(lo) - b.origin) / b.h))
	size := int(math.Floor((loss(hi)-b.origin)/b.h)) - first + 1
	c := &cells{h: b.h, mass: make([]float64, size), right: make([]float64, size)}
	out := make([]float64, size+1)
	spread := -math.Expm1(-b.h)
	for j := lo; j <= hi; j++ {
		x := s.point[j]
		if x < s.tiny {
			continue
		}
		l := loss(j)
		i := min(size-1, max(0, int(math.Floor((l-b.origin)/b.h))-first))
		d := math.Max(0, math.Min(b.h, l-b.origin-float64(first+i)*b.h))
		right := math.Min(1, -math.Expm1(-d)/spread)
		if b.up {
			out[i] += x * (1 - right) * math.Exp(-b.theta*d)
			out[i+1] += x * right * math.Exp(b.theta*(b.h-d))
			continue
		}
		x *= math.Exp(-b.theta * (l - b.origin)) // merging is about masses that are not tilted
		c.mass[i] += x
		c.right[i] += x * right
	}
	if b.up {
		return first, out
	}
	c.mergeUp(out, nil)
	for i := range out {
		out[i] *= math.Exp(b.theta * float64(first+i) * b.h)
	}
	return first, out
}
