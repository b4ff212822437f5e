package noise

import (
	"math"
	"slices"
	"testing"

	"d3p/internal/stattest"
)

// exactly is AddGaussian with every number computed with all bits.
func exactly(s *Stream, x []float64, sigma float64) {
	spacing := LatticeSpacing(sigma)
	for i := range x {
		group, j := i/normalGroup, i%(normalGroup/2)
		w := s.Clone()
		w.SeekBlock(s.step, uint64(group*8))
		var words [normalGroup]uint64
		for k := range words {
			words[k] = w.Uint64()
		}
		z := s.exactNormal(uint64(group*8+j), words[j], words[j+8], i%normalGroup >= 8)
		x[i] = nearestExactly(x[i], sigma, spacing, z) * spacing
	}
}

// The fast path rounds to the same multiples as arithmetic with 320 bits.
func TestAddGaussianIsExact(t *testing.T) {
	const n = 400
	values := Insecure(60).Stream(PosteriorDraws)
	for step, sigma := range []float64{1, 0.37, 1e-5, 3e7, 1000} {
		s := Insecure(61).Stream(GradientNoise)
		got, want := make([]float64, n), make([]float64, n)
		values.Normals(got)
		for i := range got {
			got[i] *= sigma * math.Pow(10, float64(i%8)-2)
		}
		copy(want, got)
		s.Seek(uint64(step))
		exactly(s, want, sigma)
		s.Seek(uint64(step))
		s.AddGaussian(got, sigma)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("sigma=%g: release %d is %v, want %v", sigma, i, got[i], want[i])
			}
		}
	}
}

// The two ways meet at a boundary: x is chosen so that x + sigma·z lies where
// float64 does not tell on which side of the middle between two multiples.
func TestAddGaussianAtTheMiddle(t *testing.T) {
	const n = 64
	const sigma = 1.0
	spacing := LatticeSpacing(sigma)
	s := Insecure(62).Stream(GradientNoise)
	z := make([]float64, n)
	s.Normals(z)
	for _, off := range []float64{-0x1p-42, -0x1p-50, -0x1p-51, -0x1p-52, 0, 0x1p-52, 0x1p-51, 0x1p-50, 0x1p-42} {
		got, want := make([]float64, n), make([]float64, n)
		for i := range got {
			middle := (float64(i%7-3) + 0.5) * spacing // near 0: the sum is exact, and z's error shows
			got[i] = middle - z[i] + off
			want[i] = got[i]
		}
		s.Seek(0)
		exactly(s, want, sigma)
		s.Seek(0)
		s.AddGaussian(got, sigma)
		if !slices.Equal(got, want) {
			t.Errorf("%g from the middle: rounded to the wrong side", off)
		}
	}
}

// One number in doubt among many that are certain is found wherever it stands, and
// so are numbers that are added piece by piece.
func TestAddGaussianAtOneMiddle(t *testing.T) {
	const n = 64
	spacing := LatticeSpacing(1)
	s := Insecure(65).Stream(GradientNoise)
	z := make([]float64, n)
	s.Normals(z)
	certain, middle := make([]float64, n), make([]float64, n)
	for i := range z {
		certain[i], middle[i] = 0.25*spacing-z[i], 0.5*spacing-z[i]
	}
	rounded := func(x []float64) []float64 {
		x = slices.Clone(x)
		s.Seek(0)
		exactly(s, x, 1)
		return x
	}
	wantCertain, wantMiddle := rounded(certain), rounded(middle)
	for i := range n {
		want := slices.Clone(wantCertain)
		want[i] = wantMiddle[i]
		for _, piece := range []int{n, 16} {
			got := slices.Clone(certain)
			got[i] = middle[i]
			s.Seek(0)
			for low := 0; low < n; low += piece {
				s.AddGaussian(got[low:low+piece], 1)
			}
			if !slices.Equal(got, want) {
				t.Errorf("number %d, in pieces of %d: rounded to the wrong side", i, piece)
			}
		}
	}
}

// Releases lie on the lattice, whatever goes in; in pieces they are the same as
// at once; and the law is that of the normal, whose rounding is far below what
// the sample shows.
func TestAddGaussianLaw(t *testing.T) {
	const sigma = 2.5
	s := Insecure(63).Stream(GradientNoise)
	x := make([]float64, 200000)
	for i := range x {
		x[i] = math.Pi
	}
	s.AddGaussian(x, sigma)
	spacing := LatticeSpacing(sigma)
	for _, v := range x {
		if v != math.Round(v/spacing)*spacing {
			t.Fatalf("%v is not a multiple of %v", v, spacing)
		}
	}
	s.Seek(0)
	pieces := make([]float64, 4096)
	for i := range pieces {
		pieces[i] = math.Pi
	}
	for lo := 0; lo < len(pieces); lo += 64 {
		s.AddGaussian(pieces[lo:lo+64], sigma)
	}
	if !slices.Equal(pieces, x[:len(pieces)]) {
		t.Error("pieces differ from the whole")
	}
	stattest.Require(t, "law", stattest.KolmogorovSmirnov(x, func(v float64) float64 {
		return math.Erfc(-(v-math.Pi)/sigma/math.Sqrt2) / 2
	}))
}

func TestLatticeSpacing(t *testing.T) {
	for sigma, want := range map[float64]float64{
		1: 0x1p-10, 1.99: 0x1p-10, 2: 0x1p-9, 0.75: 0x1p-11, 1024: 1, 0x1p-800: 0x1p-810,
	} {
		if got := LatticeSpacing(sigma); got != want {
			t.Errorf("LatticeSpacing(%g) = %g, want %g", sigma, got, want)
		}
	}
}

func TestAddGaussianRefuses(t *testing.T) {
	s := Insecure(64).Stream(GradientNoise)
	for _, c := range []struct{ x, sigma float64 }{
		{0, 0}, {0, -1}, {0, math.NaN()}, {0, math.Inf(1)}, {0, 1e-300},
		{math.NaN(), 1}, {math.Inf(1), 1}, {0x1p50, 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("x=%g sigma=%g is accepted", c.x, c.sigma)
				}
			}()
			s.AddGaussian([]float64{c.x}, c.sigma)
		}()
	}
}

func BenchmarkAddGaussian(b *testing.B) {
	s := Insecure(1).Stream(GradientNoise)
	x := make([]float64, 100000)
	for b.Loop() {
		s.AddGaussian(x, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/normal")
}

func BenchmarkExactNormal(b *testing.B) {
	s := Insecure(1).Stream(GradientNoise)
	for b.Loop() {
		s.exactNormal(1, 2, 3, true)
	}
}
