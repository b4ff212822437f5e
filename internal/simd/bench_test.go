package simd

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// Each kernel in every form, so that the ratios are of one run.

func BenchmarkUnary(b *testing.B) {
	x, y := make([]float64, 2048), make([]float64, 2048)
	for i := range x {
		x[i] = 0.001 + float64(i)/300
	}
	for _, by := range interpreters() {
		all := by.unaries()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			b.Run(name+"/"+by.of.name, func(b *testing.B) {
				for range b.N {
					all[name](y, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2048, "ns/element")
			})
		}
	}
}

func BenchmarkReduce(b *testing.B) {
	x, y := normals(2048, 1), normals(2048, 2)
	for _, k := range implementations() {
		b.Run("dot/"+k.name, func(b *testing.B) {
			for range b.N {
				k.dot(x, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2048, "ns/element")
		})
		b.Run("axpy/"+k.name, func(b *testing.B) {
			for range b.N {
				k.axpy(y, x, 1e-9)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2048, "ns/element")
		})
	}
}

// BenchmarkProduct reports the fastest of many products, transposed or not, as
// a network's layers need them.
func BenchmarkProduct(b *testing.B) {
	benchmarkProduct[float64](b)
	benchmarkProduct[float32](b)
}

func benchmarkProduct[T float32 | float64](b *testing.B) {
	for _, s := range [][3]int{{400, 64, 784}, {784, 64, 400}, {784, 400, 64}, {784, 400, 128}, {512, 128, 512}} {
		for _, transposed := range []bool{false, true} {
			p := product[T]{M: s[0], N: s[1], K: s[2], LDC: s[1], LDB: s[1], ARow: s[2], ACol: 1,
				A: convert[T](normals(s[0]*s[2], 1)), B: convert[T](normals(s[2]*s[1], 2)), C: convert[T](normals(s[0]*s[1], 3))}
			if transposed {
				p.ARow, p.ACol = 1, s[0]
			}
			for _, k := range implementations() {
				b.Run(fmt.Sprintf("%T/%dx%dx%d/transposed=%t/%s", T(0), s[0], s[1], s[2], transposed, k.name), func(b *testing.B) {
					least := time.Hour
					for range b.N {
						start := time.Now()
						p.add(tilesOf[T](k))
						least = min(least, time.Since(start))
					}
					b.ReportMetric(2*float64(s[0]*s[1]*s[2])/float64(least.Nanoseconds()), "GFLOP/s")
				})
			}
		}
	}
}
