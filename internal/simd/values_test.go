package simd

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"testing"
)

// Values of testdata/generate.py, with 60 digits: function, argument, value as
// two summands.
//
//go:embed testdata/functions.txt
var functionValues string

// ulps are the errors that package simd states; for digamma in units of the
// larger of the value and 1.
var ulps = map[string]float64{
	"expm1": 2, "log1p": 2, "tanh": 3, "erf": 2, "normalCDF": 5, "logNormalCDF": 5, "gelu": 5, "lgamma": 6, "digamma": 6,
}

func TestFunctionValues(t *testing.T) {
	functions := reference().unaries()
	worst, at := map[string]float64{}, map[string]float64{}
	y := make([]float64, 1)
	for line := range strings.Lines(functionValues) {
		name, numbers, _ := strings.Cut(strings.TrimSpace(line), " ")
		var v [3]float64
		for i, s := range strings.Fields(numbers) {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			v[i] = x
		}
		functions[name](y, v[:1])
		size := math.Abs(v[1])
		if name == "digamma" {
			size = math.Max(size, 1)
		}
		ulp := math.Nextafter(size, math.Inf(1)) - size
		if e := math.Abs(y[0]-v[1]-v[2]) / ulp; !(e <= worst[name]) {
			worst[name], at[name] = e, v[0]
		}
	}
	for name, bound := range ulps {
		t.Logf("%s: %.2f ulp at %g", name, worst[name], at[name])
		if e, ok := worst[name]; !ok || !(e <= bound) {
			t.Errorf("%s: worst error %.2f ulp at %g, want <= %g", name, e, at[name], bound)
		}
	}
}

func TestFunctionEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	functions := interpreters()[0].unaries()
	functions["lgamma"], functions["digamma"] = Lgamma, Digamma // the ends are theirs
	for _, c := range []struct {
		name string
		x, y float64
	}{
		{"expm1", inf, inf}, {"expm1", -inf, -1}, {"expm1", 710, inf}, {"expm1", -800, -1},
		{"log1p", -1, -inf}, {"log1p", -2, nan}, {"log1p", inf, inf}, {"log1p", 1e300, math.Log(1e300)},
		{"logSigmoid", inf, 0}, {"logSigmoid", -inf, -inf}, {"logSigmoid", -1e5, -1e5},
		{"tanh", inf, 1}, {"tanh", -inf, -1}, {"tanh", 1e-320, 1e-320}, {"tanh", 30, 1},
		{"erf", inf, 1}, {"erf", -inf, -1}, {"erf", 40, 1},
		{"normalCDF", inf, 1}, {"normalCDF", -inf, 0}, {"normalCDF", 0, 0.5}, {"normalCDF", -1e200, 0},
		{"logNormalCDF", inf, 0}, {"logNormalCDF", -inf, -inf}, {"logNormalCDF", -1e200, -inf},
		{"logNormalCDF", -1e100, -5e199}, {"logNormalCDF", 50, 0},
		{"gelu", inf, inf}, {"gelu", -40, 0},
		{"lgamma", 1, 0}, {"lgamma", 2, 0}, {"lgamma", 0, inf}, {"lgamma", -3, inf},
		{"lgamma", inf, inf}, {"lgamma", -2.5, lgammaRest(-2.5)},
		{"digamma", 0, nan}, {"digamma", -4, nan}, {"digamma", inf, inf}, {"digamma", 1e-310, -inf},
	} {
		for _, x := range []float64{c.x, nan} {
			want := c.y
			if math.IsNaN(x) {
				want = nan
			}
			dst := []float64{x, x, x}
			functions[c.name](dst, dst)
			for _, y := range dst {
				if y != want && !(math.IsNaN(y) && math.IsNaN(want)) {
					t.Errorf("%s(%g) = %g, want %g", c.name, x, y, want)
				}
			}
		}
		// the sign of a zero stays
		if c.name == "tanh" || c.name == "erf" || c.name == "expm1" {
			dst := []float64{math.Copysign(0, -1)}
			if functions[c.name](dst, dst); dst[0] != 0 || (!math.Signbit(dst[0]) && c.name != "expm1") {
				t.Errorf("%s(-0) = %g", c.name, dst[0])
			}
		}
	}
}

// Arguments that are not positive give the same result beside any others.
func TestGammaFunctionsMixed(t *testing.T) {
	x := []float64{3, -0.5, 0.25, math.NaN(), 7, 1e10, -1e-9}
	for _, c := range []struct {
		f, kernel func(dst, x []float64)
		rest      func(float64) float64
	}{{Lgamma, plain.lgamma, lgammaRest}, {Digamma, plain.digamma, digammaRest}} {
		got, want := make([]float64, len(x)), make([]float64, len(x))
		c.f(got, x)
		c.kernel(want, x)
		for i, v := range x {
			if !(v > 0) {
				want[i] = c.rest(v)
			}
		}
		equal(t, "mixed", got, want)
	}
	// d/dx log|Γ| by reflection against differences of math.Lgamma
	for _, x := range []float64{-0.5, -1.3, -2.7} {
		const h = 1e-6
		a, b := lgammaRest(x+h), lgammaRest(x-h)
		if d := (a - b) / (2 * h); math.Abs(d-digammaRest(x)) > 1e-7*math.Max(1, math.Abs(d)) {
			t.Errorf("digamma(%g) = %g, difference %g", x, digammaRest(x), d)
		}
	}
}
