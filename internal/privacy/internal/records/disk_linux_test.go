package records

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/internal/records/storage"
)

// A table on disk has the bits of one in memory, also as it grows and is widened, and
// leaves no file.
func TestTableOnDisk(t *testing.T) {
	path := t.TempDir()
	folder, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	text := dirtyRows(60000)
	units := twoNumbers()
	units.UnitID, units.RowsPerUnit, units.Keep = "id", 2, encoding.KeepFirst
	rng := rand.New(rand.NewPCG(5, 6))
	ids := strings.Replace(text, "a,b\n", "a,b,id\n", 1)
	lines := strings.Split(strings.TrimSuffix(ids, "\n"), "\n")
	for i := range lines[1:] {
		lines[i+1] += "," + string(rune('a'+rng.IntN(26))) + string(rune('a'+i%26)) + string(rune('a'+rng.IntN(26)))
	}
	for name, c := range map[string]struct {
		path string
		e    encoding.Encoding
	}{
		"csv":     {modelstest.File(t, "a.csv", text), twoNumbers()},
		"units":   {modelstest.File(t, "u.csv", strings.Join(lines, "\n")+"\n"), units},
		"parquet": {modelstest.File(t, "a.parquet", parquetText(t, columns(arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64), jsonNumbers(rng, 5000), jsonNumbers(rng, 5000))), twoNumbers()},
	} {
		for _, codes := range []bool{false, true} {
			var tables [2][]string
			for i, place := range []storage.Place{{}, {Folder: folder}} {
				rows, _, err := readOne(c.path, c.e, Options{Precision: Float32, Codes: codes, Place: place})
				if err != nil {
					t.Fatal(name, err)
				}
				if rows.room.OnDisk() != (i == 1) {
					t.Fatalf("%s: on disk is %v", name, !rows.room.OnDisk())
				}
				tables[i] = encoded(rows)
				rows.Finish()
				if err := rows.Widen(rows.Stride + 3); err != nil {
					t.Fatal(err)
				}
				tables[i] = append(tables[i], encoded(rows)...)
				rows.Fetch([]uint32{0, uint32(rows.N - 1)})
				for range rows.N / 2 { // beyond the room
					if err := rows.push([]float64{1, 2}, true); err != nil {
						t.Fatal(err)
					}
				}
				tables[i] = append(tables[i], encoded(rows)...)
			}
			if !slices.Equal(tables[0], tables[1]) {
				t.Errorf("%s: the table on disk is another", name)
			}
		}
	}
	if left, err := os.ReadDir(path); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v: %v", left, err)
	}
}
