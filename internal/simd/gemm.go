package simd

import "math"

// A Product is C += A·B of matrices of float64: C is M × N with rows LDC apart,
// B is K × N with rows LDB apart, and A is M × K with element (i, k) at
// A[i·ARow + k·ACol], so that it may be transposed. Every element of C is a
// chain of fused multiply-adds in order of k that starts at its old value:
// cutting M, N or K and the order of the cuts in M and N change no bit.
type Product = product[float64]

// A Product32 is a Product of matrices of float32, with roundings to float32.
type Product32 = product[float32]

type product[T float32 | float64] struct {
	M, N, K    int
	C          []T
	LDC        int
	A          []T
	ARow, ACol int
	B          []T
	LDB        int
}

// Add computes the product. C must not overlap A or B.
func (p product[T]) Add() {
	if p.M == 0 || p.N == 0 || p.K == 0 {
		return
	}
	// the last elements exist
	_ = p.C[(p.M-1)*p.LDC+p.N-1]
	_ = p.A[(p.M-1)*p.ARow+(p.K-1)*p.ACol]
	_ = p.B[(p.K-1)*p.LDB+p.N-1]
	p.add(tilesOf[T](active))
}

// tiles are an implementation's products of matrices: by row in plain Go, else by tiles of
// all columns and of fewer, the most rows first.
type tiles[T float32 | float64] struct {
	axpy       func(dst, a []T, s T)
	whole, cut []tile[T]
	slim       []tile[T] // of half as many columns as whole ones, or fewer, and as many rows
	width      int       // columns of a whole tile
	depth      int       // of K at a time: a panel of A stays in the first-level cache while it meets all of B
}

// A tile adds a product to `rows` rows of C.
type tile[T float32 | float64] struct {
	rows int
	add  func(c *T, ldc int, a *T, rowStride, colStride int, b *T, ldb, n, k int)
}

func tilesOf[T float32 | float64](k *kernels) *tiles[T] {
	if t, ok := any(&k.tiles64).(*tiles[T]); ok {
		return t
	}
	return any(&k.tiles32).(*tiles[T])
}

func (p *product[T]) add(s *tiles[T]) {
	if s.whole == nil {
		for i := range p.M {
			for k := range p.K {
				s.axpy(p.C[i*p.LDC:][:p.N], p.B[k*p.LDB:][:p.N], p.A[i*p.ARow+k*p.ACol])
			}
		}
		return
	}
	for k := 0; k < p.K; k += s.depth {
		depth := min(s.depth, p.K-k)
		for i, t := 0, 0; i < p.M; i += s.whole[t].rows {
			for s.whole[t].rows > p.M-i {
				t++
			}
			j := 0
			for ; j+s.width <= p.N; j += s.width {
				p.tile(s.whole[t], i, j, k, s.width, depth)
			}
			switch n := p.N - j; {
			case n == 0:
				continue
			case n <= s.width/2:
				p.tile(s.slim[t], i, j, k, n, depth)
				continue
			}
			for done, c := 0, 0; done < s.whole[t].rows; done += s.cut[c].rows {
				for s.cut[c].rows > s.whole[t].rows-done {
					c++
				}
				p.tile(s.cut[c], i+done, j, k, p.N-j, depth)
			}
		}
	}
}

// tile adds the product of depth columns of A from k on to n columns of C.
func (p *product[T]) tile(t tile[T], i, j, k, n, depth int) {
	t.add(&p.C[i*p.LDC+j], p.LDC, &p.A[i*p.ARow+k*p.ACol], p.ARow, p.ACol, &p.B[k*p.LDB+j], p.LDB, n, depth)
}

func axpy32(dst, a []float32, s float32) {
	for j, x := range a[:len(dst)] {
		dst[j] = fma32(s, x, dst[j])
	}
}

// fma32 is a·b + c with one rounding. In float64 the product is exact; the sum
// is rounded there and once more to float32, which goes wrong only when the
// first rounding ends halfway between two float32.
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	const below = 1<<29 - 1 // bits of a float64 that float32 does not have
	if math.Float64bits(s)&below != 1<<28 && math.Abs(s) >= 0x1p-126 {
		return float32(s)
	}
	return float32(roundToOdd(p, float64(c), s))
}

// roundToOdd returns, where s = x + y was rounded, the neighbour of the exact sum with an
// odd last bit, which shows the side of a halfway point.
func roundToOdd(x, y, s float64) float64 {
	rest := s - x
	rest = (x - (s - rest)) + (y - rest) // exact: Knuth's two-sum
	bits := math.Float64bits(s)
	if rest == 0 || rest != rest || bits&1 == 1 {
		return s
	}
	if (rest > 0) == (s > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}
