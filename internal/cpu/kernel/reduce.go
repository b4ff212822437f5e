package kernel

import "d3p/internal/simd"

// Dot returns Σ a·b in a fixed shape: four partial sums over the residues of
// the index modulo 4, added pairwise, then the rest in order.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	s := (s0 + s1) + (s2 + s3)
	for ; i < len(a); i++ {
		s += a[i] * b[i]
	}
	return s
}

// AddTo adds a to dst.
func AddTo(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += a[i]
	}
}

// AddProductTo adds a · b to dst, lane by lane.
func AddProductTo(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] += a[i] * b[i]
	}
}

// AddSquareTo adds a² to dst, lane by lane.
func AddSquareTo(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] += a[i] * a[i]
	}
}

// MaxTo sets dst to max(dst, a), lane by lane; NaN wins.
func MaxTo(dst, a []float64) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = max(dst[i], a[i])
	}
}

// Axpy adds s · a to dst, with one rounding each.
func Axpy(dst []float64, s float64, a []float64) { simd.Axpy(dst, s, a[:len(dst)]) }

// Axpy4 adds s0·a0 + s1·a1 + s2·a2 + s3·a3 to dst, summed in that order.
func Axpy4(dst []float64, s *[4]float64, a0, a1, a2, a3 []float64) {
	a0, a1, a2, a3 = a0[:len(dst)], a1[:len(dst)], a2[:len(dst)], a3[:len(dst)]
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i := range dst {
		dst[i] = dst[i] + s0*a0[i] + s1*a1[i] + s2*a2[i] + s3*a3[i]
	}
}

// Sum returns Σ a in the shape of Dot.
func Sum(a []float64) float64 {
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x := a[i : i+4 : i+4]
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
	}
	s := (s0 + s1) + (s2 + s3)
	for ; i < len(a); i++ {
		s += a[i]
	}
	return s
}
