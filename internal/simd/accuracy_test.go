package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// inputs covers the whole range of float64, the thresholds and the specials.
func inputs() []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-1023, math.Sqrt2, math.Sqrt2 / 2, math.Nextafter(math.Sqrt2/2, 0),
		expMax, math.Nextafter(expMax, 1000), expMin, math.Nextafter(expMin, -1000), 36.7, -36.7, 745, -745}
	for range 20000 {
		out = append(out, rng.NormFloat64(), 100*rng.NormFloat64(), math.Ldexp(rng.Float64(), rng.IntN(2100)-1070), 1420*(rng.Float64()-0.5))
	}
	return out
}

// TestAccuracy bounds the error of the plain forms in ulp against 200-bit
// arithmetic: exp by its series, log by Newton's method on exp.
func TestAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	worst := map[string]float64{}
	for range 3000 {
		x := 30 * rng.NormFloat64()
		e := bigExp(x)
		record(worst, "exp", expOne(x), e)
		onePlus := new(big.Float).SetPrec(prec).Add(big.NewFloat(1), e)
		record(worst, "sigmoid", sigmoidOne(x), new(big.Float).SetPrec(prec).Quo(e, onePlus))
		record(worst, "softplus", softplusOne(x), bigLog(onePlus))
		y := math.Ldexp(1+rng.Float64(), rng.IntN(200)-100)
		record(worst, "log", logOne(y), bigLog(new(big.Float).SetPrec(prec).SetFloat64(y)))
	}
	for name, bound := range map[string]float64{"exp": 1, "log": 1, "softplus": 3, "sigmoid": 3} {
		if !(worst[name] <= bound) {
			t.Errorf("%s: worst error %.2f ulp, want <= %g", name, worst[name], bound)
		}
	}
	t.Logf("worst errors in ulp: %v", worst)
}

const prec = 200

func record(worst map[string]float64, name string, got float64, want *big.Float) {
	w, _ := want.Float64()
	ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	diff, _ := new(big.Float).SetPrec(prec).Sub(want, new(big.Float).SetFloat64(got)).Float64()
	worst[name] = math.Max(worst[name], math.Abs(diff)/ulp)
}

// bigExp sums the Taylor series of exp(x/2^20) and squares it twenty times.
func bigExp(x float64) *big.Float {
	r := new(big.Float).SetPrec(prec + 60).SetFloat64(x)
	r.SetMantExp(r, -20)
	sum, term := big.NewFloat(1).SetPrec(prec+60), big.NewFloat(1).SetPrec(prec+60)
	for k := 1; k < 30; k++ {
		term.Mul(term, r).Quo(term, big.NewFloat(float64(k)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog starts at the float64 logarithm and corrects by y -= 1 - x·exp(-y),
// to third order.
func bigLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := math.Log(f)
	e := bigExp(-y)
	d := new(big.Float).SetPrec(prec).Mul(x, e)
	d.Sub(d, big.NewFloat(1)) // x·exp(-y) - 1, tiny
	half := new(big.Float).SetPrec(prec).Mul(d, d)
	half.Quo(half, big.NewFloat(2))
	out := new(big.Float).SetPrec(prec).SetFloat64(y)
	return out.Add(out, d.Sub(d, half))
}
