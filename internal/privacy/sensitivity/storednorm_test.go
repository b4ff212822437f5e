package sensitivity

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/stattest"
)

// A stored squared norm is that of the numbers that are stored as X, encoded or derived:
// below it by no more than the rounding of a sum in float64, above by no more than that
// of one number of the table.
func TestStoredNormsAreOfStoredNumbers(t *testing.T) {
	stattest.SkipNumerics(t)
	derived := 0
	for _, m := range append(Configs(t, "../../../configs"), generated(t, 20)...) {
		domain := encoded(m.Encoding)
		for precision, above := range map[privacy.Precision]float64{privacy.Float64: 0x1p-52, privacy.Float32: 0x1p-22} {
			rng, target := rand.New(rand.NewPCG(4, 4)), Target{Model: m, Precision: precision}
			records, valid := make([][]float64, 50), make([]bool, 50)
			for i := range records {
				records[i] = make([]float64, m.Tape.K0)
				domain.draw(rng, records[i])
			}
			rows, err := target.rows(records, valid)
			if err != nil {
				t.Fatal(err)
			}
			row := make([]float64, rows.K)
			for i := range rows.N {
				rows.Row(i, row)
				for k := range m.Tape.Terms {
					term := &m.Tape.Terms[k]
					if term.XNorm2 == graph.NoBuf {
						continue
					}
					x, sum := &m.Tape.Buffers[term.X], new(big.Float).SetPrec(2000)
					if x.Offset >= m.Tape.K0 {
						derived++
					}
					for _, v := range row[x.Offset : x.Offset+x.Size] {
						v := new(big.Float).SetPrec(2000).SetFloat64(v)
						sum.Add(sum, v.Mul(v, v))
					}
					exact, _ := sum.Float64()
					stored := row[m.Tape.Buffers[term.XNorm2].Offset]
					n := float64(x.Size)
					if !(stored >= exact*(1-n*0x1p-53)) || !(stored <= exact*(1+above)*(1+n*0x1p-53)+0x1p-140) {
						t.Fatalf("%s, precision %d: |X|² of term %d is stored as %.17g, want %.17g", m.Name, precision, k, stored, exact)
					}
				}
			}
		}
	}
	if derived < 1000 {
		t.Errorf("%d squared norms of derived columns: the test tests little", derived)
	}
}
