package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"d3p/internal/stattest"
)

// The float64 ratio against the exact product of neighbouring ratios, over the
// whole support: the error stays below a quarter of the slack that keep uses.
func TestPMFRatioWithinSlack(t *testing.T) {
	for _, c := range binomialCases {
		if c.n > 1e6 && c.p > 1e-6 {
			continue // millions of factors; 1e9·1e-7 covers the large n
		}
		f := newPMF(c.n, math.Min(c.p, 1-c.p))
		first, last := f.support(cutoff)
		p := exact(f.p, 192)
		q := new(big.Float).Sub(exact(1, 192), p)
		worst := 0.0
		product := exact(1, 192)
		check := func(k uint64) {
			got := exact(f.ratio(k), 192)
			relative, _ := got.Quo(got.Sub(got, product), product).Float64()
			worst = math.Max(worst, math.Abs(relative))
		}
		for k := f.mode; k < last; k++ {
			product.Mul(product, exact(float64(f.n-k), 192)).Mul(product, p)
			product.Quo(product, exact(float64(k+1), 192)).Quo(product, q)
			check(k + 1)
		}
		product = exact(1, 192)
		for k := f.mode; k > first; k-- {
			product.Mul(product, exact(float64(k), 192)).Mul(product, q)
			product.Quo(product, exact(float64(f.n-k+1), 192)).Quo(product, p)
			check(k - 1)
		}
		if worst > f.slack/4 {
			t.Errorf("n=%d p=%g: ratio errs by %.3g, slack %.3g", c.n, c.p, worst, f.slack)
		}
	}
}

// log pmf itself, against mpmath with 40 digits.
func TestPMFValues(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		p    float64
		k    uint64
		want float64
	}{
		{10, 0.25, 3, -1.3851658477400923543},
		{3341, 0.02, 67, -3.0126474558514818725},
		{3341, 0.02, 120, -20.808045766991391155},
		{1000000, 0.001, 0, -1000.500333583533521},
		{1000000000, 0.3, 300100000, -34.30835520968950745},
		{65537, 0.5, 65537, -45426.786772357135743},
		{60000, 0.0021333333333333334, 300, -87.54156182582473583},
	} {
		f := newPMF(c.n, c.p)
		if got := f.log(c.k); math.Abs(got-c.want) > math.Max(1e-13*math.Abs(c.want), f.slack/4) {
			t.Errorf("log pmf(%d; %d, %g) = %.17g, want %.17g", c.k, c.n, c.p, got, c.want)
		}
	}
}

// keep decides as exact arithmetic does, however close the comparison.
func TestKeepIsExact(t *testing.T) {
	s := Insecure(22).Stream(Sampling)
	for _, c := range binomialCases {
		if c.n > 1e6 {
			continue
		}
		b := NewBinomial(c.n, c.p)
		for range 30 {
			k := b.first + s.Uint64n(b.last-b.first+1)
			weight := b.weight[(k-b.first)/b.width]
			threshold := b.law.ratio(k) / (float64(weight) * b.unit)
			for _, off := range []float64{-1e-3, -1e-9, -b.law.slack, -1e-16, 1e-16, b.law.slack, 1e-9, 1e-3} {
				if at := threshold * (1 + off); at < 1 {
					v := uint64(at * 0x1p64)
					if b.keep(v, k, weight, Insecure(v).Stream(Sampling)) != b.law.exactlyBelow(newFraction(v, Insecure(v).Stream(Sampling)), k, weight, b.unit) {
						t.Fatalf("n=%d p=%g: k=%d at %g of its threshold: wrong decision", c.n, c.p, k, 1+off)
					}
				}
			}
		}
	}
}

// If the first 64 bits equal those of the threshold, the following bits decide: the
// probability to keep a number is the rest of the threshold. A number below is always kept,
// a number above never.
func TestKeepBeyondTheWord(t *testing.T) {
	s := Insecure(25).Stream(Sampling)
	b := NewBinomial(1000000, 0.001)
	for _, k := range []uint64{850, 930, 999, 1000, 1001, 1080, 1190} {
		weight := b.weight[(k-b.first)/b.width]
		threshold := new(big.Float).SetPrec(300).Quo(big.NewFloat(0x1p64), big.NewFloat(b.unit))
		threshold.Quo(threshold, new(big.Float).SetUint64(weight))
		odds := new(big.Float).SetPrec(300).SetFloat64(b.law.p)
		odds.Quo(odds, new(big.Float).SetPrec(300).Sub(big.NewFloat(1), odds))
		factor := func(j uint64) *big.Float { // pmf(j)/pmf(j-1)
			f := new(big.Float).SetPrec(300).Quo(new(big.Float).SetUint64(b.n-j+1), new(big.Float).SetUint64(j))
			return f.Mul(f, odds)
		}
		for j := b.law.mode + 1; j <= k; j++ {
			threshold.Mul(threshold, factor(j))
		}
		for j := k + 1; j <= b.law.mode; j++ {
			threshold.Quo(threshold, factor(j))
		}
		whole, _ := threshold.Uint64()
		rest, _ := threshold.Sub(threshold, new(big.Float).SetUint64(whole)).Float64()
		const draws = 2000
		kept := 0
		for range draws {
			if b.keep(whole, k, weight, s) {
				kept++
			}
		}
		stattest.Require(t, fmt.Sprintf("k=%d", k), stattest.Normal((float64(kept)-draws*rest)/math.Sqrt(draws*rest*(1-rest))))
		if !b.keep(whole-1, k, weight, s) || b.keep(whole+1, k, weight, s) {
			t.Errorf("k=%d: wrong beside the threshold", k)
		}
	}
}

// Steps and tails together are the whole law: what the tails hold beside unit·width is the
// law's ratio to its mode, number by number, and inversion gives each number its share.
func TestTails(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
	}{{300, 0.5}, {300, 0.875}, {100000, 1. / 4096}, {1000, 1. / 1024}, {1 << 40, 0x1p-60}, {1 << 16, 0.5}} {
		b := NewBinomial(c.n, c.p)
		f := &b.law
		if b.below[reject] < 2 {
			t.Errorf("n=%d p=%g: no place for the tails", c.n, c.p)
		}
		for side, from := range map[bool]uint64{true: b.last + 1, false: b.first - 1} {
			if side && b.last == c.n || !side && b.first == 0 {
				if _, kept := b.tail(side, 0, nil); kept {
					t.Errorf("n=%d p=%g: a number beyond the last", c.n, c.p)
				}
				continue
			}
			at := func(d int) uint64 {
				if side {
					return from + uint64(d)
				}
				return from - uint64(d)
			}
			before, last := exact(0, 400), uint64(0)
			for d := range 4 {
				sum := f.tailSum(from, at(d), b.unit, b.width)(400)
				share := new(big.Float).Sub(sum, before)
				share.Mul(share, exact(b.unit, 400)).Mul(share, exact(float64(b.width), 400))
				off, _ := share.Quo(share, f.exactRatio(at(d), 400)).Float64()
				if off != 1 {
					t.Errorf("n=%d p=%g: %d has %g of its probability", c.n, c.p, at(d), off)
				}
				before.Set(sum)
				first := new(big.Float).SetMantExp(sum, 64) // the first word of a fraction at the sum
				word, _ := first.Uint64()
				if word <= last+1 {
					break // the first word does not tell this number from the one before
				}
				last = word
				for _, below := range []uint64{0, 1} {
					if k, kept := b.tail(side, word-1+2*below, Insecure(1).Stream(Sampling)); kept && k != at(d+int(below)) || !kept && below == 0 {
						t.Errorf("n=%d p=%g: beside the sum up to %d the draw is %d, %v", c.n, c.p, at(d), k, kept)
					}
				}
			}
			room := b.first - 1
			if side {
				room = c.n - from
			}
			if whole, _ := f.tailSum(from, at(int(min(5000, room))), b.unit, b.width)(200).Float64(); whole >= 0x1p-8 {
				t.Errorf("n=%d p=%g: the tail holds %g of its step", c.n, c.p, whole)
			}
		}
	}
}

// Further digits decide where the first ones do not, however many it takes.
func TestFractionsAreDrawnToTheDigit(t *testing.T) {
	for _, words := range []int{0, 1, 3} {
		for _, off := range []float64{-1, 1} {
			s := Insecure(27).Stream(Sampling)
			value := new(big.Int).SetUint64(1 << 63) // the digits of the fraction
			for range words {
				value.Lsh(value, 64).Or(value, new(big.Int).SetUint64(s.Uint64()))
			}
			last := int(64 * (words + 1))
			s.Seek(0)
			at := func(prec uint) *big.Float {
				x := new(big.Float).SetPrec(prec + 1000).SetInt(value)
				return x.Add(x, exact(off*1.5, prec)).SetMantExp(x, -last)
			}
			if got := newFraction(1<<63, s).below(at); got != (off > 0) {
				t.Errorf("%d words, %g beside: below is %v", words, off, got)
			}
		}
	}
}
