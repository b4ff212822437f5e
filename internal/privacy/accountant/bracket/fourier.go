package bracket

import (
	"math"

	"d3p/internal/privacy/accountant/numeric"
)

// dft is the discrete Fourier transform of n real numbers, n a power of two
// from 4 on, with the error of theorem 1, which transformError proves.
//
// The n numbers are m = n/2 complex ones to a transform of Cooley and Tukey
// that halves polynomials: block b of length l is a polynomial modulo
// x^l - r², and its halves are the same modulo x^(l/2) - r and x^(l/2) + r,
// with r = roots[b]. Coefficients are left in the order of their reversed bits,
// in which the inverse takes them.
type dft struct {
	n     int
	roots []complex128 // e^{-iπ v(b)}, v(b) the binary fraction with the reversed digits of b
}

func newDFT(n int) *dft { return &dft{n: n, roots: roots(max(2, 3*n/8))} }

// transformError bounds the relative error of a transform of n = 2^t points, in the
// 2-norm: 5ut, u = 2⁻⁵³, t at least 6 (theorem 1 of the package's documentation). Each
// coefficient is wrong by at most 10ut ‖x‖₁.
//
// A root is a product of two roots known to 100 bits, rounded: wrong by at most
// u(1+2⁻⁴⁰). A complex product is wrong by at most √2 γ₂ < 2.83u relatively (Higham 2002,
// Accuracy and Stability of Numerical Algorithms, Lemma 3.5), a complex sum by u. A level
// maps pairs (v, w) to v ± rw, √2 times a unitary map, with a relative error in the
// 2-norm of at most η = (1 + 2.83 + 1)u < 4.84u, up to u²; in the inverse the sum comes
// first, with the same η. Levels add theirs (Theorem 24.2). A real sequence of n points
// is a complex one of n/2 points, t-1 levels, and a last level of the same kind with one
// more sum: ηt + u < 5ut.
//
// Each complex input reaches each output of the first t-1 levels along one path, which
// multiplies it by 1 + θ, |θ| <= η(t-1). The last level adds four such terms with weight
// 1/2 each, and |x_2j + i x_(2j+1)| <= |x_2j| + |x_(2j+1)|.
func transformError(n int) float64 { return 5 * numeric.Unit * math.Log2(float64(n)) }

// coefficients sets dst, of n/2+1 numbers, to Σ_j x_j e^{-2πijk/n}, k from 0 to
// n/2: k = n/2 at the end, all others at the place of their reversed bits.
func (f *dft) coefficients(dst []complex128, x []float64) {
	m := f.n / 2
	z := dst[:m]
	for j := range z {
		z[j] = complex(x[2*j], x[2*j+1])
	}
	f.forward(z, 0)
	dst[0], dst[m] = complex(real(z[0])+imag(z[0]), 0), complex(real(z[0])-imag(z[0]), 0)
	z[1] = complex(real(z[1]), -imag(z[1]))
	for low := 2; low < m; low *= 2 { // k and m-k, side by side from both ends
		for p, q := low, 2*low-1; p < q; p, q = p+1, q-1 {
			a, b := z[p], complex(real(z[q]), -imag(z[q]))
			even, odd := a+b, a-b
			r := f.roots[p]
			odd = complex(imag(r), -real(r)) * odd // r / i
			z[p] = complex((real(even)+real(odd))/2, (imag(even)+imag(odd))/2)
			z[q] = complex((real(even)-real(odd))/2, (imag(odd)-imag(even))/2)
		}
	}
}

// sequence is the inverse of coefficients; c is overwritten.
func (f *dft) sequence(dst []float64, c []complex128) {
	m := f.n / 2
	z := c[:m]
	first, last := real(c[0]), real(c[m])
	z[0] = complex((first+last)/2, (first-last)/2)
	z[1] = complex(real(z[1]), -imag(z[1]))
	for low := 2; low < m; low *= 2 {
		for p, q := low, 2*low-1; p < q; p, q = p+1, q-1 {
			a, b := z[p], complex(real(z[q]), -imag(z[q]))
			even, odd := a+b, a-b
			r := f.roots[p]
			odd = complex(imag(r), real(r)) * odd // i / r
			z[p] = complex((real(even)+real(odd))/2, (imag(even)+imag(odd))/2)
			z[q] = complex((real(even)-real(odd))/2, (imag(odd)-imag(even))/2)
		}
	}
	f.backward(z, 0)
	scale := 1 / float64(m)
	for j, v := range z {
		dst[2*j], dst[2*j+1] = real(v)*scale, imag(v)*scale
	}
}

// cached is the length up to which a block is transformed level by level; longer
// ones by quarters, so that every level reads the processor's cache.
const cached = 1 << 12

// forward transforms z, block b of its level.
func (f *dft) forward(z []complex128, b int) {
	if len(z) > cached {
		f.forwardTwo(z, b)
		for i := range 4 {
			quarter := len(z) / 4
			f.forward(z[i*quarter:(i+1)*quarter], 4*b+i)
		}
		return
	}
	size, blocks := len(z), 1
	for ; size >= 4; size, blocks = size/4, blocks*4 {
		for i := range blocks {
			f.forwardTwo(z[i*size:(i+1)*size], b*blocks+i)
		}
	}
	if size == 2 {
		for i := range blocks {
			u, v := z[2*i], f.roots[b*blocks+i]*z[2*i+1]
			z[2*i], z[2*i+1] = u+v, u-v
		}
	}
}

// forwardTwo takes block b through two levels.
func (f *dft) forwardTwo(z []complex128, b int) {
	r, s := f.roots[b], f.roots[2*b] // the second half's root is s/i
	t := complex(imag(s), -real(s))
	quarter := len(z) / 4
	z0, z1, z2, z3 := z[:quarter], z[quarter:2*quarter], z[2*quarter:3*quarter], z[3*quarter:4*quarter]
	for j := range z0 {
		a, c := z0[j], r*z2[j]
		b, d := z1[j], r*z3[j]
		a, c = a+c, a-c
		b, d = s*(b+d), t*(b-d)
		z0[j], z1[j], z2[j], z3[j] = a+b, a-b, c+d, c-d
	}
}

// backward undoes forward, up to the factor len(z).
func (f *dft) backward(z []complex128, b int) {
	if len(z) > cached {
		for i := range 4 {
			quarter := len(z) / 4
			f.backward(z[i*quarter:(i+1)*quarter], 4*b+i)
		}
		f.backwardTwo(z, b)
		return
	}
	size := 4
	if bits(len(z))%2 == 1 {
		for i := range len(z) / 2 {
			u, v := z[2*i], z[2*i+1]
			r := f.roots[b*len(z)/2+i]
			z[2*i], z[2*i+1] = u+v, complex(real(r), -imag(r))*(u-v)
		}
		size = 8
	}
	for ; size <= len(z); size *= 4 {
		blocks := len(z) / size
		for i := range blocks {
			f.backwardTwo(z[i*size:(i+1)*size], b*blocks+i)
		}
	}
}

func (f *dft) backwardTwo(z []complex128, b int) {
	r, s := f.roots[b], f.roots[2*b]
	r, s = complex(real(r), -imag(r)), complex(real(s), -imag(s))
	t := complex(-imag(s), real(s))
	quarter := len(z) / 4
	z0, z1, z2, z3 := z[:quarter], z[quarter:2*quarter], z[2*quarter:3*quarter], z[3*quarter:4*quarter]
	for j := range z0 {
		a, b := z0[j]+z1[j], s*(z0[j]-z1[j])
		c, d := z2[j]+z3[j], t*(z2[j]-z3[j])
		z0[j], z1[j], z2[j], z3[j] = a+c, b+d, r*(a-c), r*(b-d)
	}
}

// bits is log2 of a power of two.
func bits(n int) (b int) {
	for ; n > 1; n /= 2 {
		b++
	}
	return b
}

// Mod is i modulo n, a power of two, from 0 to n - 1 also for i < 0.
func Mod(i, n int) int { return i & (n - 1) }
