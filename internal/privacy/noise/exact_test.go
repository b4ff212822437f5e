package noise

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// The vectors of normals.txt have 25 digits; here all of them count.
func TestExactNormalVectors(t *testing.T) {
	lines(t, "normals.txt", func(line string) {
		var radius, angle uint64
		var wantCos, wantSin string
		if _, err := fmt.Sscan(line, &radius, &angle, &wantCos, &wantSin); err != nil {
			t.Fatal(err)
		}
		u := number((float64(radius) + 1) * 0x1p-64)
		a := number(0).SetUint64(angle)
		a.SetMantExp(a, -64)
		for i, want := range []string{wantCos, wantSin} {
			exactly, _, err := big.ParseFloat(want, 10, precision, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			got := normalOf(u, a, i == 1)
			off, _ := number(0).Sub(got, exactly).Float64()
			size, _ := exactly.Float64()
			if !(math.Abs(off) <= 1e-24*math.Abs(size)) {
				t.Errorf("%s: got %.30g, %s", line, got, want)
			}
		}
	})
}

// A word is lengthened by the bits that follow it, and by half of the last of them.
func TestUniformOfManyBits(t *testing.T) {
	more := make([]byte, 16)
	more[0], more[15] = 0x80, 1
	want := number(3) // 3 + 2^-1 + 2^-128 + 2^-129
	for _, exponent := range []int{-1, -128, -129} {
		want.Add(want, number(math.Ldexp(1, exponent)))
	}
	if got := uniform(3, more); got.Cmp(want.SetMantExp(want, -64)) != 0 {
		t.Errorf("got %.90g, want %.90g", got, want)
	}
}

// Functional equations hold to the precision of the arithmetic, beyond what any
// table in this package has.
func TestExactFunctions(t *testing.T) {
	const bits = 310
	small := func(x *big.Float) bool { return x.Sign() == 0 || x.MantExp(nil) < -bits }
	s := Insecure(51).Stream(GradientNoise)
	for range 50 {
		more := make([]byte, 16)
		s.Fill(more)
		u, v := uniform(s.Uint64(), more), uniform(s.Uint64(), more)
		product := logarithm(number(0).Mul(u, v))
		product.Sub(product, logarithm(u)).Sub(product, logarithm(v))
		if !small(product) {
			t.Errorf("log(uv) - log u - log v = %.3g", product)
		}
		c, d := cosineTurn(u, false), cosineTurn(u, true)
		squares := number(0).Mul(c, c)
		squares.Add(squares, number(0).Mul(d, d)).Sub(squares, number(1))
		if !small(squares) {
			t.Errorf("cos² + sin² - 1 = %.3g", squares)
		}
		half := number(0).Quo(u, number(2))
		double := cosineTurn(half, false)
		double.Mul(double, cosineTurn(half, true)).Mul(double, number(2)).Sub(double, d)
		if !small(double) {
			t.Errorf("2 sin cos - sin of the double = %.3g", double)
		}
	}
}

func TestNearestExactly(t *testing.T) {
	for _, c := range []struct{ x, sigma, spacing, z, want float64 }{
		{0, 1, 1, 0.49, 0}, {0, 1, 1, 0.51, 1}, {0, 1, 1, -0.49, 0}, {0, 1, 1, -0.51, -1},
		{-3, 2, 0.5, 0, -6}, {7.1, 1, 0.25, -0.3, 27}, {-100, 1, 1, 0.2, -100},
	} {
		if got := nearestExactly(c.x, c.sigma, c.spacing, number(c.z)); got != c.want {
			t.Errorf("%+v: got %g", c, got)
		}
	}
}

// Exact normals are the first of each group of Normals, with more bits.
func TestExactNormals(t *testing.T) {
	exact, groups := make([]float64, 3000), make([]float64, 16*3000)
	Insecure(4).Stream(TableNoise).ExactNormals(exact)
	Insecure(4).Stream(TableNoise).Normals(groups)
	for i, x := range exact {
		if math.Abs(x-groups[16*i]) > 1e-9 {
			t.Fatalf("number %d is %g, Normals has %g", i, x, groups[16*i])
		}
	}
}
