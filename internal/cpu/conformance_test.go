package cpu

import (
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
	"d3p/internal/stattest"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name      string
		precision privacy.Precision
		threads   int
		relative  float64
	}{
		{"float64, one thread", privacy.Float64, 1, 1e-12},
		{"float64, three threads", privacy.Float64, 3, 1e-12},
		// derived columns are rounded to float32 too; sums and norms are float64
		{"float32, three threads", privacy.Float32, 3, 1e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			if stattest.Race && c.precision == privacy.Float64 {
				t.Skip("under the race detector: the case of the most that threads share")
			}
			open := func(*testing.T) privacy.Engine { return New(Options{Threads: c.threads}) }
			enginetest.Run(t, open, enginetest.Tolerance{Relative: c.relative, Cancelling: 1e-8, Overshoot: 1e-12, Precision: c.precision})
		})
	}
}
