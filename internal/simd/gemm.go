package simd

import "math"

// A Product is C += A·B of matrices of float64: C is M × N with rows LDC apart,
// B is K × N with rows LDB apart, and A is M × K with element (i, k) at
// A[i·ARow + k·ACol], so that it may be transposed. Every element of C is a
// chain of fused multiply-adds in order of k that starts at its old value:
// cutting M, N or K and the order of the cuts in M and N change no bit.
type Product struct {
	M, N, K    int
	C          []float64
	LDC        int
	A          []float64
	ARow, ACol int
	B          []float64
	LDB        int
}

// kBlock is how much of K a panel of A covers, so that it stays in the
// first-level cache while it meets all of B.
const kBlock = 256

// Add computes the product. C must not overlap A or B.
func (p Product) Add() {
	if p.M == 0 || p.N == 0 || p.K == 0 {
		return
	}
	// the last elements exist
	_ = p.C[(p.M-1)*p.LDC+p.N-1]
	_ = p.A[(p.M-1)*p.ARow+(p.K-1)*p.ACol]
	_ = p.B[(p.K-1)*p.LDB+p.N-1]
	if active.whole == nil {
		p.addPlain()
		return
	}
	p.addTiles(active)
}

func (p Product) addPlain() {
	for i := range p.M {
		c := p.C[i*p.LDC:][:p.N]
		for k := range p.K {
			a := p.A[i*p.ARow+k*p.ACol]
			for j, b := range p.B[k*p.LDB:][:p.N] {
				c[j] = math.FMA(a, b, c[j])
			}
		}
	}
}

func (p Product) addTiles(s *kernels) {
	for k := 0; k < p.K; k += kBlock {
		depth := min(kBlock, p.K-k)
		for i, t := 0, 0; i < p.M; i += s.whole[t].rows {
			for s.whole[t].rows > p.M-i {
				t++
			}
			j := 0
			for ; j+s.width <= p.N; j += s.width {
				p.tile(s.whole[t], i, j, k, s.width, depth)
			}
			if j == p.N {
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
func (p *Product) tile(t tile, i, j, k, n, depth int) {
	t.add(&p.C[i*p.LDC+j], p.LDC, &p.A[i*p.ARow+k*p.ACol], p.ARow, p.ACol, &p.B[k*p.LDB+j], p.LDB, n, depth)
}
