package simd

import "math"

// eight are partial sums: number j has the elements j modulo 8, in order. A
// short last group is filled with zeros.
type eight [8]float64

// total adds them in the fixed tree of the vector instructions.
func (s *eight) total() float64 {
	a, b, c, d := s[0]+s[4], s[1]+s[5], s[2]+s[6], s[3]+s[7]
	return (a + c) + (b + d)
}

func sum(a []float64) float64 {
	var s eight
	for ; len(a) >= 8; a = a[8:] {
		for j, x := range a[:8] {
			s[j] += x
		}
	}
	if len(a) > 0 {
		var rest eight
		copy(rest[:], a)
		for j, x := range rest {
			s[j] += x
		}
	}
	return s.total()
}

func dot(a, b []float64) float64 { return mixedDot(a, b) }

// mixedDot is dot with the second vector in either width.
func mixedDot[T float32 | float64](a []float64, b []T) float64 {
	var s eight
	for ; len(a) >= 8; a, b = a[8:], b[8:] {
		y := b[:8]
		for j, x := range a[:8] {
			s[j] = math.FMA(x, float64(y[j]), s[j])
		}
	}
	if len(a) > 0 {
		var x, y eight
		copy(x[:], a)
		for j := range a {
			y[j] = float64(b[j])
		}
		for j := range s {
			s[j] = math.FMA(x[j], y[j], s[j])
		}
	}
	return s.total()
}

func rowDots[T float32 | float64](dst, w []float64, table []T, stride int, index []uint32, _ int) {
	for b := range dst {
		dst[b] = mixedDot(w, table[int(index[b])*stride:][:len(w)])
	}
}

func rowSum[T float32 | float64](sum, w []float64, table []T, stride int, index []uint32) {
	for b, f := range w {
		for j, x := range table[int(index[b])*stride:][:len(sum)] {
			sum[j] = math.FMA(f, float64(x), sum[j])
		}
	}
}
