package exactdraw

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// simulated is a posterior of n records of d coefficients with weights slope/|a|.
func simulated(seed uint64, n, d int, slope, size float64) *Posterior {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := New(d, 2*n, slope, 0)
	for range n {
		a := make([]float64, d)
		square, z := 0.0, 0.0
		for j := range a {
			a[j] = size * rng.NormFloat64()
			if j == 0 {
				a[j] = 1
			}
			square += a[j] * a[j]
			z += a[j] / float64(j+1)
		}
		if rng.Float64() > 1/(1+math.Exp(-z)) {
			for j := range a {
				a[j] = -a[j]
			}
		}
		p.Add(a, 0, min(1, slope/math.Sqrt(square)))
	}
	return p
}

func stream(seed uint64) *noise.Stream { return noise.Insecure(seed).Stream(noise.TableNoise) }

// kinked is simulated with one unit more, whose rows are so long that each is a kink, and which
// keep the mode there: beside it they have no curvature, at it most of all.
func kinked(n, d, rows int, length float64) *Posterior {
	const slope = 0.5
	p := simulated(5, n, d, slope, 1)
	phi, _, root := p.mode()
	var inverse mat.SymDense
	if err := root.InverseTo(&inverse); err != nil {
		panic(err)
	}
	for j := range phi { // where the others' gradient is half of the unit's
		phi[j] -= inverse.At(j, d-1) * slope / 2
	}
	for r := range rows {
		a := make([]float64, d)
		a[d-1] = -length * (1 + 0.01*float64(r))
		a[0] = -a[d-1] * phi[d-1] / phi[0]
		p.Add(a, 0, slope/float64(rows)/mat.Norm(mat.NewVecDense(d, a), 2))
	}
	return p
}

// A unit far out does not decide whether a draw ends. The number of tries is in proportion to
// e^most; the factor was up to e^29.
func TestKinksDoNotSlowDraws(t *testing.T) {
	for _, d := range []int{2, 8} {
		tries := func(p *Posterior) float64 {
			s := p.sampler()
			return s.most + p.Energy(s.q.mode, math.Inf(1))
		}
		without := tries(simulated(5, 300, d, 0.5, 1))
		for _, rows := range []int{1, 3, 10} {
			for _, length := range []float64{10, 100, 1e4, 0.7 * Longest} {
				if more := tries(kinked(300, d, rows, length)) - without; more > 3 {
					t.Errorf("%d coefficients, %d rows of length %g: e^%.2g times the tries", d, rows, length, more)
				}
			}
		}
	}
}

// table is the distribution function of a density on an even grid of points from -8 to 8.
func table(points int, log func(x float64) float64) func(x float64) float64 {
	width := 16 / float64(points)
	sum := make([]float64, points+1)
	for i := range points {
		sum[i+1] = sum[i] + math.Exp(log(-8+(float64(i)+0.5)*width)-log(0))
	}
	return func(x float64) float64 {
		at := min(max((x+8)/width, 0), float64(points)-1e-9)
		i := int(at)
		return (sum[i] + (at-float64(i))*(sum[i+1]-sum[i])) / sum[points]
	}
}

// The law is that of quadrature: one coefficient, and a direction of two. The posteriors
// are skewed: many records far from the mode, or hardly any.
func TestDrawsFollowTheirLaw(t *testing.T) {
	for seed, p := range []*Posterior{simulated(1, 3, 1, 2, 1), simulated(2, 100, 1, 1, 1), New(1, 1, 1, 0)} {
		s, src := p.sampler(), stream(uint64(seed))
		cdf := table(2000, func(x float64) float64 { return -p.Energy([]float64{x}, math.Inf(1)) })
		stattest.Require(t, "one coefficient", stattest.KolmogorovSmirnov(several(s, src, 10000, []float64{1}), cdf))
	}
	for seed, p := range []*Posterior{simulated(3, 12, 2, 3, 3), simulated(4, 60, 2, 0.5, 1)} {
		s, src := p.sampler(), stream(uint64(seed))
		cdf := table(400, func(x float64) float64 { // of (φ_1 + φ_2)/√2
			sum := 0.0
			for y := -8.0; y < 8; y += 0.1 {
				sum += math.Exp(-p.Energy([]float64{(x + y) / math.Sqrt2, (x - y) / math.Sqrt2}, math.Inf(1)) + p.Energy([]float64{0, 0}, math.Inf(1)))
			}
			return math.Log(sum)
		})
		stattest.Require(t, "two coefficients", stattest.KolmogorovSmirnov(several(s, src, 10000, []float64{1 / math.Sqrt2, 1 / math.Sqrt2}), cdf))
	}
}

// several are n draws along a direction.
func several(s *sampler, src *noise.Stream, n int, along []float64) []float64 {
	var out []float64
	for len(out) < n {
		if phi, ok := s.try(src); ok {
			x := 0.0
			for j, a := range along {
				x += a * phi[j]
			}
			out = append(out, x)
		}
	}
	return out
}

// No place has a greater probability of acceptance than 1, near the mode or far from it; and the
// bound is no more than a few times too high, but where records say less than the prior.
func TestAcceptanceIsAProbability(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	// most is the greatest log of the bound over what was found up to e^-nearest from the mode
	check := func(p *Posterior, most, nearest float64) {
		s := p.sampler()
		greatest := math.Inf(-1)
		phi, place := make([]float64, p.d), make([]int64, p.d)
		for range 3000 {
			reach := math.Exp((nearest+3)*rng.Float64() - nearest)
			for j := range place {
				place[j] = int64((s.q.mode[j] + reach*rng.NormFloat64()) / spacing)
				phi[j] = float64(place[j]) * spacing
			}
			greatest = max(greatest, -p.Energy(phi, math.Inf(1))-s.q.logProbability(place)-s.most)
		}
		if greatest > 0 || greatest < -most {
			t.Errorf("%d records, %d coefficients: the greatest log probability of acceptance is %.4g", len(p.weights), p.d, greatest)
		}
	}
	for _, x := range []struct {
		n, d        int
		slope, size float64
		most        float64
	}{{2, 1, 3, 4, 4}, {5, 3, 2, 8, 8}, {40, 5, 2, 1, 6}, {400, 8, 1, 1, 3}, {3000, 4, 0.3, 0.5, 1}} {
		check(simulated(uint64(x.n), x.n, x.d, x.slope, x.size), x.most, 5)
	}
	for _, rows := range []int{1, 3, 10} {
		check(kinked(300, 3, rows, 0.7*Longest), 3, 14)
		check(kinked(300, 5, rows, 100), 3, 14)
	}
}

// The places of the mixture come with the probabilities that logProbability states: how
// often each of its cells is hit, in one and two dimensions.
func TestProposalsHaveTheirProbability(t *testing.T) {
	p := simulated(6, 5, 2, 2, 1)
	mode, gradient, root := p.mode()
	e := p.envelope(mode, gradient, root)
	q := newProposal(mode, root, e.prior)
	q.share(q.best(e))
	const draws, half, side = 200000, 12, 0.3
	src, place := stream(7), make([]int64, 2)
	counts, expected := make([]int, half*half), make([]float64, half*half)
	bin := func(place []int64) int {
		at := 0
		for i := range place {
			x := float64(place[i])*spacing - mode[i]
			k := int(math.Floor(x/side)) + half/2
			if k < 0 || k >= half {
				return -1
			}
			at = at*half + k
		}
		return at
	}
	outside := draws
	for range draws {
		q.draw(place, src)
		if k := bin(place); k >= 0 {
			counts[k]++
			outside--
		}
	}
	// a midpoint rule of the density; places are spacing apart, a cell has 2^20 of them and more
	const fine = 40
	constant := -2 * math.Log(coarse*math.Sqrt(2*math.Pi))
	total := 0.0
	for i := range half * fine {
		for j := range half * fine {
			for k, x := range []int{i, j} {
				place[k] = int64((mode[k] + ((float64(x)+0.5)/fine-half/2)*side) / spacing)
			}
			mass := math.Exp(q.logProbability(place)+constant) * math.Pow(side/fine/spacing, 2)
			expected[bin(place)] += mass * draws
			total += mass
		}
	}
	if !(total < 1) {
		t.Fatalf("the probabilities add up to %g", total)
	}
	counts, expected = append(counts, outside), append(expected, draws*(1-total))
	stattest.Require(t, "cells", stattest.ChiSquare(counts, expected))
}

// logCell is the logarithm of the mass of a cell of the normal distribution.
func TestCellsOfTheNormal(t *testing.T) {
	for cell := int64(0); cell < 14*coarse; cell += 97 {
		low, high := (float64(cell)-0.5)/coarse/math.Sqrt2, (float64(cell)+0.5)/coarse/math.Sqrt2
		want := math.Log((math.Erfc(low) - math.Erfc(high)) / 2)
		got := logCell(cell) - math.Log(coarse*math.Sqrt(2*math.Pi)) - 1/(24.0*coarse*coarse)
		if math.Abs(got-want) > 5e-10 { // the difference of two erfc loses ten bits
			t.Fatalf("cell %d: %.14g, want %.14g", cell, got, want)
		}
	}
}

// Slack covers what float64 arithmetic does to U, for records chosen to cancel.
func TestSlackCoversRounding(t *testing.T) {
	const n, d, slope = 300, 6, 2.0
	rng := rand.New(rand.NewPCG(8, 1))
	p := New(d, n, slope, 0)
	for range n {
		a := make([]float64, d)
		square := 0.0
		for j := range a {
			a[j] = math.Exp(6 * rng.NormFloat64())
			square += a[j] * a[j]
		}
		p.Add(a, 0, min(1, slope/math.Sqrt(square)))
	}
	worst, bound := 0.0, Slack(d, n, slope, 0)/2
	phi := make([]float64, d)
	for range 200 {
		for j := range phi {
			phi[j] = p.radius / math.Sqrt(d) * (2*rng.Float64() - 1)
		}
		off, _ := new(big.Float).Sub(exactEnergy(p, phi), big.NewFloat(p.Energy(phi, math.Inf(1)))).Float64()
		worst = max(worst, math.Abs(off))
	}
	if worst > bound || worst == 0 {
		t.Errorf("U is off by %.3g, the bound is %.3g", worst, bound)
	}
	t.Logf("U is off by %.3g, the bound is %.3g", worst, bound)
}

// exactEnergy is U with products and sums of 300 bits; f itself by float64 at the exact z, whose
// error counts in the bound, too.
func exactEnergy(p *Posterior, phi []float64) *big.Float {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	sum := number(0)
	for _, x := range phi {
		sum.Add(sum, number(0).Mul(number(x/2), number(x)))
	}
	for i, w := range p.weights {
		z := number(p.offsets[i])
		for j, x := range p.row(i) {
			z.Add(z, number(0).Mul(number(x), number(phi[j])))
		}
		near, _ := z.Float64()
		rest, _ := number(0).Sub(z, number(near)).Float64()
		term := number(0).Add(number(loss(near)), number(-rest/(1+math.Exp(near))))
		sum.Add(sum, number(0).Mul(number(w), term))
	}
	return sum
}

// A weight stands in for equal records.
func TestEqualRecordsAreJoined(t *testing.T) {
	p := New(2, 10, 1, 0)
	for range 5 {
		p.Add([]float64{1, 2}, 0, 0.5)
	}
	p.Add([]float64{1, 2}, 1, 0.5)
	if len(p.weights) != 2 || p.weights[0] != 2.5 {
		t.Errorf("weights %v", p.weights)
	}
}

// A posterior of no records is the prior; a cancelled draw ends.
func TestDrawEnds(t *testing.T) {
	p := New(3, 0, 1, 0)
	if phi, tries, err := p.Draw(context.Background(), stream(9)); err != nil || len(phi) != 3 || tries < 1 {
		t.Errorf("%v, %d tries, %v", phi, tries, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := p.Draw(ctx, stream(9)); err == nil {
		t.Error("a cancelled draw went on")
	}
}

// The mean excess of exponential numbers is that of their law.
func TestExponential(t *testing.T) {
	src := stream(10)
	sample := make([]float64, 50000)
	for i := range sample {
		sample[i] = exponential(src)
	}
	stattest.Require(t, "exponential", stattest.KolmogorovSmirnov(sample, func(x float64) float64 { return -math.Expm1(-x) }))
}

// The gradient at a minimum, with products and sums of 300 bits, is within the gap, for records
// chosen to cancel; it is not far below what rounding may do.
func TestMinimumIsWithinItsGap(t *testing.T) {
	for seed, o := range []Optimum{{D: 3, Records: 4000, Bound: 3, Shift: 1000, Ridge: 1}, {D: 2, Records: 4000, Bound: 1e-3, Shift: 0, Ridge: 50, Noise: 7}, {D: 8, Records: 40, Bound: 100, Shift: 3, Ridge: 2, Noise: 300}, {D: 1, Records: 0, Bound: 1, Ridge: 1, Noise: 1}} {
		rng := rand.New(rand.NewPCG(9, uint64(seed)))
		b := make([]float64, o.D)
		for j := range b {
			b[j] = rng.NormFloat64()
		}
		p := o.New(b)
		for range o.Records {
			a, square := make([]float64, o.D), 0.0
			for j := range a {
				a[j] = math.Exp(6*rng.NormFloat64()) * rng.NormFloat64()
				square += a[j] * a[j]
			}
			for j := range a {
				a[j] *= o.Bound * (1 - 0x1p-40) / math.Sqrt(square)
			}
			offset := 0.0 // with which a·φ cancels at a far φ
			for _, x := range a {
				offset -= x * o.Shift / 2 / math.Sqrt(float64(o.D))
			}
			p.Add(a, offset, 1)
		}
		phi, err := o.Minimum(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for j := range phi {
			number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
			sum := number(0).Mul(number(o.Ridge), number(phi[j]))
			sum.Add(sum, number(p.tilt[j]))
			for i, w := range p.weights {
				z := number(p.offsets[i])
				for k, x := range p.row(i) {
					z.Add(z, number(0).Mul(number(x), number(phi[k])))
				}
				near, _ := z.Float64()
				rest, _ := number(0).Sub(z, number(near)).Float64()
				tail := 1 / (1 + math.Exp(near))
				sum.Sub(sum, number(0).Mul(number(w*p.row(i)[j]), number(tail-tail*(1-tail)*rest)))
			}
			g, _ := sum.Float64()
			square += g * g
		}
		if gap := o.Gap(); math.Sqrt(square) > gap {
			t.Errorf("%+v: the gradient is %.3g, the gap %.3g", o, math.Sqrt(square), gap)
		} else {
			t.Logf("%+v: the gradient is %.3g, the gap %.3g", o, math.Sqrt(square), gap)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := Optimum{D: 1, Bound: 1, Ridge: 1}
	if _, err := o.Minimum(ctx, o.New(nil)); err == nil {
		t.Error("a cancelled search went on")
	}
}

// The search for a minimum ends, wherever some rows as long as they may be lie. Of rows of 10^9 and more it
// did not for one table of 70.
func TestMinimumEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d, n := 3+rng.IntN(3), 10+rng.IntN(200)
		p := simulated(seed, n, d, math.MaxFloat64, 1)
		o := Optimum{D: d, Records: 2 * n, Bound: Longest, Ridge: math.Pow(Longest, rng.Float64()*float64(rng.IntN(2)))}
		p.ridge = o.Ridge
		mode, _, _ := p.mode()
		for range 1 + rng.IntN(4) {
			a := make([]float64, d)
			for j := range a {
				a[j] = rng.NormFloat64()
			}
			a[d-1] -= mat.Dot(mat.NewVecDense(d, a), mat.NewVecDense(d, mode)) / mode[d-1] // a kink at the mode
			norm := mat.Norm(mat.NewVecDense(d, a), 2)
			for j := range a {
				a[j] *= Longest / norm
			}
			p.Add(a, 0, 1)
		}
		if _, err := o.Minimum(ctx, p); err != nil {
			t.Fatalf("table %d, %d coefficients, %d records, ridge %.3g: %v", seed, d, n, o.Ridge, err)
		}
	}
}
