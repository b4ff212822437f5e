package special

import (
	"math"
	"testing"
)

// Values of mpmath 1.3 at 40 digits, derivatives by its differences. A tail
// whose complement is all but 1 has an error of 1e-16 of 1, not of itself.
func TestIncompleteGamma(t *testing.T) {
	for _, v := range []struct{ a, x, below, above, belowShape, aboveShape float64 }{
		{0.5, 0.10000000000000001, -1.0634020471545286363, -0.42354632347596573841, -2.38339351649325201, 1.25692667643615673},
		{0.5, 3.0, -0.014409194045103478358, -4.2470847467855897372, -0.0479259492518736251, 3.30216188129904318},
		{0.001, 0.5, -0.00056022355238477664966, -7.4874547519064641949, -0.560673414592686059, 1000.52269427910228},
		{2.5, 2.0, -0.79721065186088565969, -0.59889947160924557247, -0.609323216767575232, 0.499714872256397275},
		{2.5, 30.0, -1.2154569777256905732e-11, -25.133315903506487745, -3.32046796772645717e-11, 2.73186795465141908},
		{40.0, 10.0, -27.940044460002594768, -7.3416363145631664034e-13, -1.4064035561916399, 1.03253034210711125e-12},
		{40.0, 41.5, -0.489580031255457494, -0.94903019736609619594, -0.0985079708600810286, 0.155958139304993708},
		{40.0, 120.0, -6.7819748529759827478e-18, -39.532263338103064442, -7.61770029715452642e-18, 1.12322744662077608},
		{10000.0, 9700.0, -6.6973520747486826131, -0.0012349378063634524907, -0.0332522710668565683, 0.0000410898531723971989},
		{10000.0, 10400.0, -0.000038880926427412006432, -10.155026191190604815, -1.61430760133172878e-6, 0.0415184607717950653},
		{3.0, 1.0e-8, -57.053801708585151353, -1.6666666541666668167e-25, -19.6767984130091659, 3.27946637757219661e-24},
		{9.9999999999999995e-7, 0.001, -6.331540185603407494e-6, -11.969970201911767355, -6.33154100707026656, 999996.96397486438},
	} {
		got := IncompleteGamma(v.a, v.x)
		requireTails(t, got, v.below, v.above)
		relative(t, "below by shape", got.Below.A, v.belowShape, math.Exp(v.below))
		relative(t, "above by shape", got.Above.A, v.aboveShape, math.Exp(v.above))
	}
}

// As TestIncompleteGamma; the first argument is the logit.
func TestIncompleteBeta(t *testing.T) {
	for _, v := range []struct{ u, a, b, below, above, first, second float64 }{
		{0.0, 0.5, 0.5, -0.69314718055994530942, -0.69314718055994530942, -1.16624361612327512, 1.16624361612327512},
		{-5.0, 2.0, 3.0, -8.2306124860350494876, -0.00026640861408011547393, -4.42487702375517914, 0.578865215858664451},
		{5.0, 2.0, 3.0, -1.1931861800265338207e-6, -13.638883963243384251, -1.28661569555616458e-6, 5.67615203407552806e-6},
		{1.0, 0.10000000000000001, 20.0, -3.6195551167674979418e-14, -30.949840179551881085, -4.74275090448026704e-13, 4.91329134941318607e-14},
		{-8.0, 0.5, 30.0, -2.1861910905598798909, -0.11917082070673008496, -4.63990339518390376, 0.0166940313620261233},
		{-12.0, 8.0, 2.0, -93.802830037715051764, -2.295887403949780289e-41, -11.8888951089367883, 1.82896279246499111},
		{0.20000000000000001, 300.0, 250.0, -0.543515135572570989, -0.86917675581399793709, -0.0260916988290203438, 0.0315914079249586789},
		{0.5, 3000.0, 2500.0, -1.1523635541907028443e-31, -71.238322785131475818, -1.53278577496462495e-32, 2.15447105153627772e-32},
		{-0.29999999999999999, 1.0, 1.0, -0.85435524446852711244, -0.55435524446852712354, -0.854355244468527112, 0.748301309271789705},
		{30.0, 1.5, 0.5, -3.8948700713920470937e-7, -14.758435524729571939, -1.5045666388778117e-7, 0.0000115341558257906189},
		{-2.5, 5.0, 40.0, -1.4299677881692893771, -0.27353807990539881758, -0.608028722335140849, 0.06024502168834708},
	} {
		got := IncompleteBeta(v.u, v.a, v.b)
		requireTails(t, got, v.below, v.above)
		relative(t, "below by a", got.Below.A, v.first, math.Exp(v.below))
		relative(t, "below by b", got.Below.B, v.second, math.Exp(v.below))
		other := IncompleteBeta(-v.u, v.b, v.a)
		if math.Abs(other.Below.V-got.Above.V) > 1e-12*math.Abs(got.Above.V) || math.Abs(other.Above.V-got.Below.V) > 1e-12*math.Abs(got.Below.V) {
			t.Errorf("%v: the complement is not the function of the complement", v)
		}
	}
}

// At and beyond the ends of their domains the functions are 0 or 1.
func TestIncompleteEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, v := range []struct {
		got  Tails
		want bool // all mass below
	}{
		{IncompleteGamma(0, 2), true}, {IncompleteGamma(-1, 2), true}, {IncompleteGamma(2, inf), true}, {IncompleteGamma(2, 0), false},
		{IncompleteBeta(1, 0, 2), true}, {IncompleteBeta(1, 2, 0), false}, {IncompleteBeta(inf, 2, 2), true}, {IncompleteBeta(-inf, 2, 2), false},
	} {
		below, above := 0.0, -inf
		if !v.want {
			below, above = above, below
		}
		if v.got.Below.V != below || v.got.Above.V != above {
			t.Errorf("%v, want %v, %v", v.got, below, above)
		}
	}
}

func requireTails(t *testing.T, got Tails, below, above float64) {
	t.Helper()
	relative(t, "below", got.Below.V, below, math.Exp(below))
	relative(t, "above", got.Above.V, above, math.Exp(above))
}

// relative allows 2e-11 of want, and 1e-15 divided by the probability p that
// was found as 1 less its complement.
func relative(t *testing.T, what string, got, want, p float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 2e-11*math.Abs(want)+1e-15*math.Max(1, math.Abs(want))/math.Max(p, 1e-3)) {
		t.Errorf("%s = %.17g, want %.17g", what, got, want)
	}
}
