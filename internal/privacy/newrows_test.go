package privacy

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"d3p/internal/models/modelstest"
)

// The numbers of new rows are there as long as somebody has a slice of them, however large
// the table is.
func TestNewRowsOutliveTheirTable(t *testing.T) {
	m := modelstest.Compile(t, "x.yaml", `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: 0, upper: 1e9, scale: {center: 0, by: 1}}
    y: {type: binary}
model: {formula: y ~ 1 + x, family: bernoulli}
`)
	const n = 300_000
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,0\n", i)
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, _, err := ReadNewRows(path, m.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	numbers, stride := rows.F64, rows.Stride
	rows = nil
	for range 3 {
		runtime.GC()
		time.Sleep(20 * time.Millisecond) // cleanups run beside us
	}
	if last := numbers[(n-1)*stride:]; last[0] != n-1 && last[1] != n-1 {
		t.Errorf("the last row is %v", last)
	}
}
