package noise

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"testing"

	"d3p/internal/stattest"
)

// ulps returns how many units in the last place of want lie between got and
// the decimal number want.
func ulps(got float64, want string) float64 {
	exactly, _, err := big.ParseFloat(want, 10, 120, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	nearest, _ := exactly.Float64()
	ulp := math.Nextafter(math.Abs(nearest), math.Inf(1)) - math.Abs(nearest)
	d, _ := new(big.Float).Sub(new(big.Float).SetPrec(120).SetFloat64(got), exactly).Float64()
	return math.Abs(d) / ulp
}

// Every pair of words against the formula with 50 digits. A wrong polynomial
// coefficient passes statistical tests, but not this one.
func TestNormalVectors(t *testing.T) {
	const most = 4 // ulp, as Normals promises
	var worst float64
	lines(t, "normals.txt", func(line string) {
		var radius, angle uint64
		var wantCos, wantSin string
		if _, err := fmt.Sscan(line, &radius, &angle, &wantCos, &wantSin); err != nil {
			t.Fatal(err)
		}
		z := make([]float64, normalGroup)
		for j := range normalGroup / 2 {
			putWord(z, j, radius)
			putWord(z, j+normalGroup/2, angle)
		}
		boxMullerPortable(z, z)
		for j := range normalGroup / 2 {
			e := math.Max(ulps(z[j], wantCos), ulps(z[j+normalGroup/2], wantSin))
			worst = math.Max(worst, e)
			if !(e <= most) {
				t.Fatalf("%s: got %g, %g: %.2f ulp", line, z[j], z[j+normalGroup/2], e)
			}
		}
	})
	t.Logf("at most %.2f ulp", worst)
}

// putWord stores a word where boxMuller expects it.
func putWord(z []float64, i int, w uint64) {
	binary.LittleEndian.PutUint64(bytesOf(z[i:i+1]), w)
}

func TestElementaryFunctions(t *testing.T) {
	s := Insecure(31).Stream(PosteriorDraws)
	for range 100000 {
		x := (float64(s.Uint64()) + 1) * 0x1p-64
		if got, want := log(x), math.Log(x); math.Abs(got-want) > 2*0x1p-52*math.Abs(want) {
			t.Fatalf("log(%g) = %g, want %g", x, got, want)
		}
		w := s.Uint64()
		sin, cos := sincosTurn(w)
		wantSin, wantCos := math.Sincos(float64(w) * (2 * math.Pi * 0x1p-64))
		if math.Abs(sin-wantSin) > 2e-15 || math.Abs(cos-wantCos) > 2e-15 {
			t.Fatalf("sincosTurn(%#x) = %g, %g, want %g, %g", w, sin, cos, wantSin, wantCos)
		}
	}
}

// A group uses its sixteen words whether all its normals are wanted or not.
func TestNormalsLayout(t *testing.T) {
	s := Insecure(32).Stream(GradientNoise)
	want := make([]float64, 64)
	s.Normals(want)
	for n := 1; n <= len(want); n++ {
		s.Seek(0)
		got := make([]float64, n)
		s.Normals(got)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("normal %d of %d differs from that of %d", i, n, len(want))
			}
		}
		if at, used := uint64((n+15)/16*128), s.next*blockSize-(bufferSize-uint64(s.used)); at != used {
			t.Fatalf("%d normals used %d bytes, want %d", n, used, at)
		}
	}
}

func TestNormalsLaw(t *testing.T) {
	s := Insecure(33).Stream(GradientNoise)
	sample := make([]float64, 400000)
	s.Normals(sample)
	n := float64(len(sample))
	var sum, squares, lag, pair float64
	for i, z := range sample {
		sum += z
		squares += z * z
		lag += z * sample[(i+1)%len(sample)]
		pair += z * sample[(i+normalGroup/2)%len(sample)]
	}
	stattest.Require(t, "mean", stattest.Normal(sum/math.Sqrt(n)))
	stattest.Require(t, "variance", stattest.Normal((squares-n)/math.Sqrt(2*n)))
	stattest.Require(t, "neighbours", stattest.Normal(lag/math.Sqrt(n)))
	stattest.Require(t, "sine and cosine", stattest.Normal(pair/math.Sqrt(n)))
	stattest.Require(t, "law", stattest.KolmogorovSmirnov(sample, func(x float64) float64 {
		return math.Erfc(-x/math.Sqrt2) / 2
	}))
}

func BenchmarkNormals(b *testing.B) {
	for _, n := range []int{16, 30, 1024, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := Insecure(1).Stream(GradientNoise)
			z := make([]float64, n)
			for b.Loop() {
				s.Normals(z)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/normal")
		})
	}
}

func BenchmarkFill(b *testing.B) {
	for _, n := range []int{64, 512, 8192} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := Insecure(1).Stream(GradientNoise)
			p := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				s.Fill(p)
			}
		})
	}
}
