package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
)

// arguments are lengths that are no multiple of anything, and every special value.
func arguments(n int, scale float64) []float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	x := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, -1e-300, 1e300, -1e300, 709, -745, 0.5, -0.5}
	for len(x) < n {
		x = append(x, scale*rng.NormFloat64())
	}
	return x[:n]
}

// close is equality up to ulps units in the last place, NaN equal to NaN.
func close(got, want, ulps float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	return math.Abs(got-want) <= ulps*0x1p-52*math.Max(math.Abs(want), 0x1p-1000)
}

func TestRelu(t *testing.T) {
	for _, n := range []int{0, 1, 15, 300} {
		a := arguments(n, 8)
		dst := make([]float64, n)
		Relu(dst, a)
		for i := range dst {
			if want := graph.OpRelu.Eval(a[i], 0, 0); !close(dst[i], want, 0) {
				t.Errorf("Relu(%g) = %g, want %g", a[i], dst[i], want)
			}
		}
	}
}

func TestWhere(t *testing.T) {
	a, b, c := arguments(50, 1), arguments(50, 2), arguments(50, 3)
	dst := make([]float64, 50)
	Where(dst, a, b, c)
	for i := range dst {
		if want := graph.OpWhere.Eval(a[i], b[i], c[i]); !close(dst[i], want, 0) {
			t.Errorf("Where(%g, %g, %g) = %g, want %g", a[i], b[i], c[i], dst[i], want)
		}
	}
}

func TestMaxTo(t *testing.T) {
	dst := []float64{1, 2, math.NaN(), 4}
	MaxTo(dst, []float64{3, 1, 5, math.NaN()})
	if dst[0] != 3 || dst[1] != 2 || !math.IsNaN(dst[2]) || !math.IsNaN(dst[3]) {
		t.Errorf("maximum %g", dst)
	}
}

// Columns and Transpose against their definition, around the block's size.
func TestColumns(t *testing.T) {
	const stride, first, records = 200, 3, 9
	rows := make([]float32, records*stride)
	for i := range rows {
		rows[i] = float32(i)
	}
	for _, index := range [][]uint32{{4}, {8, 0, 3}, {1, 2, 3, 4, 5, 6, 7}} {
		for _, count := range []int{1, 2, 63, 64, 65, 150} {
			n := len(index)
			lanes, back := make([]float64, count*n), make([]float64, count*n)
			Columns(lanes, rows, stride, first, index)
			Transpose(back, lanes, n)
			for b, k := range index {
				for i := range count {
					want := float64(int(k)*stride + first + i)
					if lanes[i*n+b] != want || back[b*count+i] != want {
						t.Fatalf("column %d of record %d of %d is %g, transposed %g, want %g", i, b, n, lanes[i*n+b], back[b*count+i], want)
					}
				}
			}
		}
	}
}

// TestTurn checks the matrices' transposes against the definition.
func TestTurn(t *testing.T) {
	for _, n := range []int{1, 3, 16} {
		for _, rows := range []int{1, 7, 8, 9, 30} {
			const width = 5
			lanes := make([]float64, rows*width*n)
			for i := range lanes {
				lanes[i] = float64(i)
			}
			dst := make([]float64, len(lanes))
			Turn(dst, lanes, n, width)
			for i := range rows {
				for w := range width {
					for b := range n {
						if got, want := dst[(b*width+w)*rows+i], lanes[(i*width+w)*n+b]; got != want {
							t.Fatalf("element (%d, %d) of matrix %d is %g, want %g", i, w, b, got, want)
						}
					}
				}
			}
		}
	}
}
