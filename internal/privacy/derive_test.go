package privacy_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// The derived squared norm of a record is not below the sum of the squares of the
// numbers stored, or its gradient could be longer than C after clipping. In float64 it may be
// below by the rounding of its additions, which RoundingAllowance covers. It is above by
// rounding alone.
func TestDerivedNormsAreNotTooSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	var text strings.Builder
	text.WriteString("a,b,y\n1e-170,1e-170,0\n") // the squares are below the smallest float64
	for range 300 {
		fmt.Fprintf(&text, "%.17g,%.17g,1\n", rng.NormFloat64()/2, rng.NormFloat64()/2)
	}
	path := writeFile(t, "data.csv", text.String())
	for precision, off := range map[privacy.Precision]struct{ below, above float64 }{
		privacy.Float64: {0x1p-52, 0x1p-52}, privacy.Float32: {0, 0x1p-22},
	} {
		engine := &onRows{Engine: cpu.New(cpu.Options{Threads: 1})}
		cfg := config(t, engine)
		cfg.Table = privacy.NewTable(privacy.TableConfig{Data: path, Encoding: fakeEncoding(), Precision: precision, Root: noise.Insecure(1)})
		begin(t, newCurator(t, cfg), mechanism(t, 1))
		if engine.rows.N != 301 || engine.rows.K != 4 || engine.rows.Precision() != precision {
			t.Fatalf("%d rows of %d numbers, want 301 of 4: the test tests nothing", engine.rows.N, engine.rows.K)
		}
		row := make([]float64, 4)
		for i := range engine.rows.N {
			engine.rows.Row(i, row)
			var exact, square, derived big.Float
			for _, x := range row[:2] {
				square.SetPrec(2000).SetFloat64(x)
				exact.SetPrec(2000).Add(&exact, square.Mul(&square, &square))
			}
			derived.SetPrec(2000).SetFloat64(row[3])
			above, _ := derived.Sub(&derived, &exact).Float64()
			if norm2, _ := exact.Float64(); !(above >= -off.below*norm2 && above <= off.above*norm2+0x1p-999) {
				t.Fatalf("precision %d, record %d: the derived squared norm is %g above %g", precision, i, above, norm2)
			}
		}
	}
}
