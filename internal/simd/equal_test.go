package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every instruction set gives the bits of the plain form, for slices of any length and
// place in memory. It touches nothing beyond the slices, which end where the mapped
// memory ends.

// lengths are all tails around one, two and several vectors.
func lengths() []int {
	var n []int
	for i := range 41 {
		n = append(n, i)
	}
	return append(n, 100, 127, 128, 129, 1000)
}

// forms runs test with each implementation but the plain one.
func forms(t *testing.T, test func(t *testing.T, k *kernels)) {
	for _, k := range implementations() {
		if k != plain {
			t.Run(k.name, func(t *testing.T) { test(t, k) })
		}
	}
}

func equal(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fatalf("%s: element %d of %d is %x, plain %x", name, i, len(want), got[i], want[i])
		}
	}
}

// unaries are the functions of one value, by name: codes of programs, and kernels.
func (by *interpreter) unaries() map[string]func(dst, x []float64) {
	all := map[string]func(dst, x []float64){"kernel exp": by.of.exp, "lgamma": by.of.lgamma, "digamma": by.of.digamma}
	for name, op := range map[string]Opcode{
		"exp": OpExp, "expm1": OpExpm1, "log": OpLog, "log1p": OpLog1p, "sigmoid": OpSigmoid, "logSigmoid": OpLogSigmoid,
		"softplus": OpSoftplus, "tanh": OpTanh, "erf": OpErf, "normalCDF": OpNormalCDF, "logNormalCDF": OpLogNormalCDF,
		"gelu": OpGelu, "neg": OpNeg, "square": OpSquare, "reciprocal": OpReciprocal, "sqrt": OpSqrt,
	} {
		p := newProgram(by, []Instruction{{Op: op, Count: 1, A: Place{Space: 1}}})
		all[name] = func(dst, x []float64) {
			if len(dst) > 0 {
				p.Run(&[Spaces][]float64{dst, x}, len(dst))
			}
		}
	}
	return all
}

// reference is the plain interpreter.
func reference() *interpreter {
	list := interpreters()
	return list[len(list)-1]
}

func TestUnary(t *testing.T) {
	all := inputs()
	// every function of one value but copy and abs, lgamma, digamma and the kernel exp
	if got, want := len(reference().unaries()), int(OpAbs-OpNeg)+3; got != want {
		t.Errorf("unaries has %d functions, the opcodes from OpNeg to OpAbs ask for %d", got, want)
	}
	want := map[string][]float64{}
	for name, f := range reference().unaries() {
		want[name] = make([]float64, len(all))
		f(want[name], all)
	}
	for _, by := range interpreters() {
		if by.of == plain {
			continue
		}
		t.Run(by.of.name, func(t *testing.T) {
			for name, f := range by.unaries() {
				for _, n := range append(lengths(), len(all)) {
					x, dst := atEnd(t, all[:n]), atEnd(t, make([]float64, n))
					f(dst, x)
					equal(t, name, dst, want[name][:n])
					f(x, x)
					equal(t, name+" in place", x, want[name][:n])
				}
			}
		})
	}
}

func TestBinary(t *testing.T) {
	all := inputs()
	other := append(append([]float64(nil), all[7:]...), all[:7]...)
	get := map[string]func(k *kernels) func(dst, a, b []float64){
		"add": func(k *kernels) func(dst, a, b []float64) { return k.add }, "sub": func(k *kernels) func(dst, a, b []float64) { return k.sub },
		"mul":        func(k *kernels) func(dst, a, b []float64) { return k.mul },
		"addProduct": func(k *kernels) func(dst, a, b []float64) { return k.addProduct },
	}
	forms(t, func(t *testing.T, k *kernels) {
		for name, f := range get {
			for _, n := range append(lengths(), len(all)) {
				want := append([]float64(nil), all[:n]...)
				dst := atEnd(t, want)
				f(plain)(want, all[:n], other[:n])
				f(k)(dst, atEnd(t, all[:n]), atEnd(t, other[:n]))
				equal(t, name, dst, want)
			}
		}
	})
}

func TestWithScalar(t *testing.T) {
	all := inputs()
	get := map[string]func(k *kernels) func(dst, a []float64, s float64){
		"addScalar": func(k *kernels) func(dst, a []float64, s float64) { return k.addScalar }, "mulScalar": func(k *kernels) func(dst, a []float64, s float64) { return k.mulScalar },
		"axpy": func(k *kernels) func(dst, a []float64, s float64) { return k.axpy },
	}
	forms(t, func(t *testing.T, k *kernels) {
		for name, f := range get {
			for _, s := range []float64{1.7, 0, math.Inf(-1), math.NaN()} {
				for _, n := range append(lengths(), len(all)) {
					want := append([]float64(nil), all[:n]...)
					dst := atEnd(t, want)
					f(plain)(want, all[:n], s)
					f(k)(dst, atEnd(t, all[:n]), s)
					equal(t, name, dst, want)
				}
			}
		}
	})
}

func normals(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func TestReductions(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, n := range lengths() {
			a, b := normals(n, 1), normals(n, 2)
			x, y := atEnd(t, a), atEnd(t, b)
			equal(t, "sum", []float64{k.sum(x)}, []float64{plain.sum(a)})
			equal(t, "dot", []float64{k.dot(x, y)}, []float64{plain.dot(a, b)})
		}
	})
}

func TestClipFlat(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, n := range lengths() {
			norm2 := normals(n, 3)
			for i := range norm2 {
				norm2[i] *= norm2[i]
			}
			if n > 3 {
				norm2[2], norm2[3] = 0.49, 0
			}
			want, got := make([]float64, n), atEnd(t, make([]float64, n))
			wantBeyond, wantTotal := plain.clipFlat(want, norm2, 0.7)
			beyond, total := k.clipFlat(got, atEnd(t, norm2), 0.7)
			equal(t, "factor", got, want)
			equal(t, "beyond, total", []float64{beyond, total}, []float64{wantBeyond, wantTotal})
		}
	})
}

func TestRows(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, d := range []int{0, 1, 3, 7, 8, 9, 16, 31, 33, 64, 71, 100, 129} {
			const n, records = 37, 100
			stride := d + 3
			wide := normals(n*stride+d, 4)[:(n-1)*stride+d] // the last row ends where memory ends
			narrow := make([]float32, len(wide))
			for i, x := range wide {
				narrow[i] = float32(x)
			}
			index := make([]uint32, records)
			rng := rand.New(rand.NewPCG(5, 5))
			for i := range index {
				index[i] = rng.Uint32N(n)
			}
			index[7] = n - 1
			w, weights := atEnd(t, normals(d, 6)), atEnd(t, normals(records, 7))
			table64, table32 := atEnd(t, wide), atEnd(t, narrow)
			for _, B := range []int{0, 1, 20, records} {
				for _, fetch := range []int{0, 4 * d} {
					got, want := atEnd(t, make([]float64, B)), make([]float64, B)
					plain.rowDots64(want, w, wide, stride, index, fetch)
					k.rowDots64(got, w, table64, stride, index, fetch)
					equal(t, "rowDots64", got, want)
					plain.rowDots32(want, w, narrow, stride, index, fetch)
					k.rowDots32(got, w, table32, stride, index, fetch)
					equal(t, "rowDots32", got, want)
				}
				want := normals(d, 8)
				got := atEnd(t, want)
				plain.rowSum64(want, weights[:B], wide, stride, index)
				k.rowSum64(got, weights[:B], table64, stride, index)
				equal(t, "rowSum64", got, want)
				plain.rowSum32(want, weights[:B], narrow, stride, index)
				k.rowSum32(got, weights[:B], table32, stride, index)
				equal(t, "rowSum32", got, want)
			}
			for _, B := range []int{8, 48} {
				if d == 0 {
					continue
				}
				got, want := atEnd(t, make([]float64, d*B)), make([]float64, d*B)
				plain.columns64(want, B, d, wide, stride, index, 0)
				k.columns64(got, B, d, table64, stride, index, 0)
				equal(t, "columns64", got, want)
				for _, fetch := range []int{0, 4 * d} {
					clear(got)
					plain.columns32(want, B, d, narrow, stride, index, fetch)
					k.columns32(got, B, d, table32, stride, index, fetch)
					equal(t, "columns32", got, want)
				}
			}
		}
	})
}

func TestProduct(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		testProduct[float64](t, k)
		testProduct[float32](t, k)
	})
}

func testProduct[T float32 | float64](t *testing.T, k *kernels) {
	for _, s := range [][3]int{{1, 1, 1}, {14, 16, 3}, {13, 15, 7}, {29, 33, 300}, {50, 17, 513}, {3, 100, 2}, {7, 8, 64}, {31, 5, 9}, {15, 63, 1030}} {
		for _, transposed := range []bool{false, true} {
			p := product[T]{M: s[0], N: s[1], K: s[2], LDC: s[1] + 3, LDB: s[1] + 1, ARow: s[2], ACol: 1}
			if transposed {
				p.ARow, p.ACol = 1, s[0]
			}
			p.A = atEnd(t, convert[T](normals(p.M*p.K, 1)))
			p.B = atEnd(t, convert[T](normals((p.K-1)*p.LDB+p.N, 2)))
			want := convert[T](normals((p.M-1)*p.LDC+p.N, 3))
			got := atEnd(t, want)
			p.C = want
			p.add(tilesOf[T](plain))
			p.C = got
			p.add(tilesOf[T](k))
			equal(t, "product", convert[float64](got), convert[float64](want))
		}
	}
}

func TestTurn(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, lanes := range []int{4, 8, 12, 16, 40} {
			factor := atEnd(t, normals(lanes, 1))
			for _, count := range []int{1, 2, 4, 7, 8, 9, 23, 40} {
				stride, step := count+3, lanes+5
				x := atEnd(t, normals((count-1)*step+lanes, 2))
				want := normals((lanes-1)*stride+count, 3)
				got := atEnd(t, want)
				plain.scaledTranspose(want, stride, x, step, count, factor)
				turn := k.scaledTranspose
				if lanes%8 != 0 {
					turn = k.fourLanes
				}
				turn(got, stride, x, step, count, factor)
				equal(t, "scaledTranspose", got, want)
			}
		}
	})
}

// The plain form scales and transposes.
func TestPlainTurn(t *testing.T) {
	dst := make([]float64, 4)
	plain.scaledTranspose(dst, 2, []float64{1, 2, 3, 4}, 2, 2, []float64{10, 100})
	equal(t, "scaledTranspose", dst, []float64{10, 30, 200, 400})
}

// convert changes the width of numbers.
func convert[T, F float32 | float64](x []F) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return y
}

func TestConversions(t *testing.T) {
	all := append(inputs(), 1+0x1p-24, 1+0x1p-24+0x1p-40, 0x1.8p-149, 0x1p-150, 0x1.ffffffp127)
	forms(t, func(t *testing.T, k *kernels) {
		for _, n := range append(lengths(), len(all)) {
			x := atEnd(t, all[len(all)-n:])
			single, wide := atEnd(t, make([]float32, n)), atEnd(t, make([]float64, n))
			k.narrow(single, x)
			want := convert[float32](x)
			equal(t, "narrow", convert[float64](single), convert[float64](want))
			k.widen(wide, single)
			equal(t, "widen", wide, convert[float64](want))
		}
	})
}

// fma32 against exact arithmetic, most of all where two roundings go wrong.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	check := func(a, b, c float32) {
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(a) * float64(b))
		want, _ := exact.Add(exact, big.NewFloat(float64(c))).Float32()
		if got := fma32(a, b, c); got != want {
			t.Errorf("%x·%x + %x = %x, want %x", a, b, c, got, want)
		}
	}
	check(1+0x1p-12, 1+0x1p-12, 0x1p-60)  // 1 + 2^-11 + 2^-24: halfway, and a little
	check(1+0x1p-12, 1+0x1p-12, -0x1p-60) // and a little less
	check(1+0x1p-12, 1+0x1p-12, 0)
	for range 200000 {
		m := func() float32 { return float32(math.Ldexp(float64(rng.IntN(8192)-4096), rng.IntN(90)-50)) }
		check(m(), m(), m())
		check(float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64()))
		check(float32(0x1p-80*rng.NormFloat64()), float32(0x1p-65*rng.NormFloat64()), float32(0x1p-140*rng.NormFloat64()))
	}
	if x := fma32(float32(math.Inf(1)), 1, 1); !math.IsInf(float64(x), 1) {
		t.Errorf("infinity is %g", x)
	}
	if x := fma32(0x1p127, 0x1p127, 1); !math.IsInf(float64(x), 1) {
		t.Errorf("overflow is %g", x)
	}
}

// The plain product is the sum in order of k.
func TestPlainProduct(t *testing.T) {
	p := Product{M: 2, N: 3, K: 2, LDC: 3, ARow: 1, ACol: 2, LDB: 3,
		A: []float64{1, 2, 3, 4}, B: []float64{1, 2, 3, 4, 5, 6}, C: []float64{100, 0, 0, 0, 0, 200}}
	p.add(&plain.tiles64)
	equal(t, "product", p.C, []float64{113, 17, 21, 18, 24, 230})
}

func TestAdam(t *testing.T) {
	forms(t, func(t *testing.T, k *kernels) {
		for _, n := range lengths() {
			var got, want [5][]float64 // x, grad, first, second, gain
			for i := range got {
				want[i] = normals(n, uint64(i))
				if i == 3 {
					plain.mul(want[i], want[i], want[i])
				}
				got[i] = atEnd(t, want[i])
			}
			plain.adamGain(want[0], want[1], want[2], want[3], want[4], 0.9, 0.1, 0.999, 0.001, 0.3, 0.02, 1e-8, 0.05)
			k.adamGain(got[0], got[1], got[2], got[3], got[4], 0.9, 0.1, 0.999, 0.001, 0.3, 0.02, 1e-8, 0.05)
			plain.adam(want[0], want[1], want[2], want[3], 0.9, 0.1, 0.999, 0.001, 0.5, 0.03, 1e-8, 0.05)
			k.adam(got[0], got[1], got[2], got[3], 0.9, 0.1, 0.999, 0.001, 0.5, 0.03, 1e-8, 0.05)
			for i := range got {
				equal(t, "adam", got[i], want[i])
			}
		}
	})
}

// The root that Adam divides by, against the instruction: within an ulp, at 0 and
// over the whole range of normal numbers.
func TestRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	if root(0) != 0 {
		t.Errorf("√0 = %g", root(0))
	}
	for range 200_000 {
		x := math.Float64frombits(rng.Uint64N(2046<<52) + 1<<52)
		got, want := root(x), math.Sqrt(x)
		if d := int64(math.Float64bits(got) - math.Float64bits(want)); d < -1 || d > 1 {
			t.Fatalf("√%g = %g, want %g: %d ulp", x, got, want, d)
		}
	}
	for x := 1.0; x > 0; x /= 3 {
		if d := math.Abs(root(x) - math.Sqrt(x)); !(d <= 0x1p-52*math.Sqrt(x) || x < 0x1p-1022 && d < 0x1p-510) {
			t.Errorf("√%g = %g, want %g", x, root(x), math.Sqrt(x))
		}
	}
}
