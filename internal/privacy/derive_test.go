package privacy_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
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

// The derived columns of a record are the same, to the last bit, wherever it stands and
// whatever stands beside it.
func TestDerivedColumnsAreOfOneRecord(t *testing.T) {
	const columns, features, n = 30, 200, 700
	rng := rand.New(rand.NewPCG(6, 3))
	b := graph.NewBuilder()
	matrix := func(rows, cols int) *graph.Node {
		v := make([]float64, rows*cols)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return b.Consts(graph.Shape{{Name: "r", Size: rows}, {Name: "c", Size: cols}}, v)
	}
	x := b.Tanh(b.MatMul(matrix(features, columns), b.Columns(0, graph.Dim{Name: "k", Size: columns})))
	x = b.MatMul(matrix(features, features), x)
	tape, err := graph.Compile(b, b.Softplus(b.MatMul(x, b.Param("w", graph.Shape{{Name: "r", Size: features}}))), nil, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tape.K != columns+features+1 {
		t.Fatalf("%d columns, want %d derived ones: the test tests nothing", tape.K, features+1)
	}
	table := func(list [][]float64) *privacy.Rows {
		rows := privacy.NewRows(privacy.Float64, len(list), columns, columns)
		for i, row := range list {
			rows.Set(i, 0, row)
		}
		if err := privacy.DeriveColumns(tape, rows, columns); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	list := make([][]float64, n)
	for i := range list {
		list[i] = make([]float64, columns)
		for j := range list[i] {
			list[i][j] = rng.NormFloat64()
		}
	}
	whole, got, want := table(list), make([]float64, tape.K), make([]float64, tape.K)
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	back := table(reversed)
	for i := range n {
		whole.Row(i, want)
		for where, rows := range map[string]*privacy.Rows{"in reverse order": back, "alone": nil} {
			at := n - 1 - i
			if rows == nil {
				if i%97 != 0 {
					continue
				}
				rows, at = table(list[i:i+1]), 0
			}
			if rows.Row(at, got); !slices.Equal(got, want) {
				t.Fatalf("record %d has other columns %s", i, where)
			}
		}
	}
}
