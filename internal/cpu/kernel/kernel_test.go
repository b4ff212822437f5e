package kernel

import "testing"

// TestTranspose checks the transpose against the definition.
func TestTranspose(t *testing.T) {
	for _, n := range []int{1, 3, 7, 16} {
		for _, count := range []int{1, 2, 7, 8, 9, 150} {
			lanes := make([]float64, count*n)
			for i := range lanes {
				lanes[i] = float64(i)
			}
			dst := make([]float64, len(lanes))
			Transpose(dst, lanes, n)
			for b := range n {
				for i := range count {
					if got, want := dst[b*count+i], lanes[i*n+b]; got != want {
						t.Fatalf("element (%d, %d) is %g, want %g", b, i, got, want)
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
