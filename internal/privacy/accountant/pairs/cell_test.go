package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
)

// The masses of a cell are those of the quadrature of losses, near the median and far out,
// in narrow cells and in those as wide as a panel, for all pairs of a sampled Gaussian.
func TestCellsOfSampledGaussians(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	quick := 0
	for _, kind := range []Kind{Remove, Add, Substitute, Envelope} {
		for range 400 {
			k := Key{Kind: kind, S: math.Pow(10, -0.8+2*r.Float64()), Q: math.Pow(10, -6*r.Float64())}
			if k.Q > 0.999 {
				k.Q = 0.999
			}
			for _, p := range k.Build().Pieces {
				low, high := p.Lo, math.Min(p.Hi, p.Lo+40*k.S)
				a := low + (high-low)*r.Float64()
				b := a + panelShare*p.Width*math.Pow(10, -4*r.Float64())
				base := p.Loss(a)
				mass, excess, ok := p.ratio.cell(a, b, p.Width)
				if !ok {
					continue
				}
				quick++
				var want, wantExcess, wrong float64
				p.Integrate(a, b, func(l, m float64) {
					want += m
					wantExcess -= m * math.Expm1(base-l)
					wrong += m * (math.Abs(l) + math.Abs(base)) // the rounding of l - base
				})
				z := a / k.S
				if !(math.Abs(mass-want) <= 1e-15*(20+z*z)*want) {
					t.Errorf("%+v: mass %v from %v to %v, want %v", k, mass, a, b, want)
				}
				// x is rounded, too, where the loss has the slope 1/s² at most
				wrong += want * (math.Abs(a) + 1) / (k.S * k.S)
				if !(math.Abs(excess-wantExcess) <= 1e-15*((20+z*z)*wantExcess+wrong)) {
					t.Errorf("%+v: excess %v from %v to %v, want %v +- %v", k, excess, a, b, wantExcess, 1e-15*wrong)
				}
			}
		}
	}
	if quick < 1000 {
		t.Errorf("only %d cells", quick)
	}
}

// The masses at the end of the support are those of the quadrature, for whole and for
// divided pairs.
func TestMassesAtTheEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 10))
	seen := 0
	for _, kind := range []Kind{Remove, Add} {
		for range 200 {
			k := Key{Kind: kind, S: math.Pow(10, -0.8+2*r.Float64()), Q: math.Pow(10, -0.01-6*r.Float64())}
			pair := k.Build()
			p, end := pair.Pieces[0], math.Log1p(-k.Q)
			p.Lo = math.Max(p.Lo, -8*k.S)
			if r.IntN(2) == 0 {
				p.Lo += 7 * k.S * r.Float64()
			}
			p.Hi = p.Lo + 9*k.S*r.Float64()
			mass, excess, ok := p.atEnd()
			if !ok {
				continue
			}
			seen++
			var want, wantExcess float64
			p.Integrate(p.Lo, p.Hi, func(l, m float64) { want += m })
			// of N(x; 0, s²) times q e^y, which is q N(x; 1, s²)
			of, factor := Piece{Width: p.Width, Loss: func(x float64) float64 { return x }}, -k.Q
			of.LogDensity = func(x, _ float64) float64 {
				return -(x-1)*(x-1)/(2*k.S*k.S) - numeric.LogSqrt2Pi - math.Log(k.S)
			}
			if kind == Add { // e^end times the same, mirrored
				p.Lo, p.Hi, factor = -p.Hi, -p.Lo, k.Q*math.Exp(-end)
			}
			of.Integrate(p.Lo, p.Hi, func(_, m float64) { wantExcess += factor * m })
			if math.Abs(mass-want) > 1e-11*want || math.Abs(excess-wantExcess) > 1e-11*math.Abs(wantExcess) {
				t.Errorf("%+v from %v to %v: %v and %v, want %v and %v", k, p.Lo, p.Hi, mass, excess, want, wantExcess)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d", seen)
	}
}
