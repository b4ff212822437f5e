//go:build linux && !nogpu

package gpu

import (
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
	"d3p/internal/stattest"
)

// The kernels on one thread.
func TestConformance(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, c := range []struct {
		name      string
		precision privacy.Precision
		tight     bool
		wideFrom  int64
		relative  float64
	}{
		{"float64", privacy.Float64, false, wideProducts, 1e-11},
		{"float32, table on the host", privacy.Float32, true, wideProducts, 1e-6},
		{"all blocks together", privacy.Float64, false, 0, 1e-11},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			open := func(t *testing.T) privacy.Engine {
				e := newEngine("cuda:test", newOneThread(t, 1<<30), Options{})
				e.wideFrom = c.wideFrom
				if c.tight {
					return tight{e, t}
				}
				return e
			}
			enginetest.Run(t, open, enginetest.Tolerance{Relative: c.relative, Cancelling: 1e-8, Overshoot: 1e-12, Precision: c.precision})
		})
	}
}

// tight keeps tables on the host and sends batches in parts of few records.
type tight struct {
	*Engine
	t *testing.T
}

func (e tight) Open(tape *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	e.keepsAll, e.mostPart = false, 64
	w, err := e.Engine.Open(tape, rows)
	if err == nil && rows.N > 64 && (w.(*worker).table.resident || w.(*worker).p.wide() == 0 && w.(*worker).part.records >= rows.N) {
		e.t.Errorf("the table is on the device, or sent as a whole")
	}
	return w, err
}
