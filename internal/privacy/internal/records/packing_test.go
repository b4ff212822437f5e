package records

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// packable is an encoding that stores most columns as bytes, with all kinds of fields and cells
// that break their rules.
func packable(units bool) (encoding.Encoding, string) {
	var many []string
	for l := range 256 {
		many = append(many, fmt.Sprint("c", l))
	}
	low, high := -2.0, 2.0
	none, one, age, dose, years, half := 0.0, 1.0, 100.0, -300.0, 700.0, 2.5
	e := encoding.Encoding{K: 16, MissingTokens: []string{"NA"}, Fields: []encoding.Field{
		{Column: "g", Kind: encoding.OneHot, Levels: []string{"a", "b", "c", "d"}, Out: []int{-1, 0, 1, 2}, Missing: encoding.MissingImpute, Impute: -1, Unknown: encoding.UnknownReject},
		{Column: "x", Kind: encoding.Numeric, Lower: &low, Upper: &high, Center: 0.3, Missing: encoding.MissingImpute, Impute: 0.1, Out: []int{3}},
		{Column: "x", Kind: encoding.MissingIndicator, Missing: encoding.MissingImpute, Out: []int{4}},
		{Column: "h", Kind: encoding.LevelCode, Levels: many, Out: []int{5}, Missing: encoding.MissingReject, Unknown: encoding.UnknownMissing},
		{Column: "w", Kind: encoding.Tokens, Vocabulary: []string{"so", "it", "is"}, Missing: encoding.MissingImpute, Out: []int{6, 7, 8, 9, 10}},
		{Column: "n", Kind: encoding.Numeric, Type: data.Integer, Lower: &none, Upper: &age, Center: 49.3, Scale: 7.1, Missing: encoding.MissingImpute, Impute: 30.5, Out: []int{11}},
		{Column: "m", Kind: encoding.Numeric, Type: data.Integer, Lower: &dose, Upper: &years, Center: 0.1, Missing: encoding.MissingReject, Out: []int{12}},
		{Column: "n", Kind: encoding.Numeric, Type: data.Integer, Lower: &none, Upper: &age, Transform: "log", Missing: encoding.MissingImpute, Impute: 2, Out: []int{13}},
		{Column: "m", Kind: encoding.Numeric, Type: data.Integer, Lower: &none, Upper: &one, Missing: encoding.MissingImpute, Impute: 0, Out: []int{14}},
		{Column: "n", Kind: encoding.Numeric, Type: data.Integer, Lower: &half, Upper: &age, Scale: 3, Missing: encoding.MissingImpute, Impute: 9, Out: []int{15}},
	}}
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("id,g,x,h,w,n,m\n")
	for i := range 4000 {
		g := []string{"a", "b", "c", "d", "NA", "zz"}[rng.IntN(6)]
		x := []string{"NA", "1e300", "-0.7", fmt.Sprint(rng.NormFloat64())}[rng.IntN(4)]
		h := []string{many[rng.IntN(256)], many[255], many[0], "NA", "-1"}[rng.IntN(5)]
		w := []string{"so it is", "is it", "", "what so ever it may be so"}[rng.IntN(4)]
		n := []string{fmt.Sprint(rng.IntN(101)), fmt.Sprint(rng.IntN(101)), "NA", "2.5", "-1e9", "0", "100", "1e300", "-0"}[rng.IntN(9)]
		m := []string{fmt.Sprint(rng.IntN(1001) - 300), fmt.Sprint(rng.IntN(1001) - 300), "1e9", "-300", "700", "0", "-0"}[rng.IntN(7)]
		if rng.IntN(20) == 0 {
			m = "0.5"
		}
		fmt.Fprintf(&text, "%d,%s,%s,%s,%s,%s,%s\n", i/5*7%1000, g, x, h, w, n, m)
	}
	if units {
		e.UnitID, e.RowsPerUnit, e.Keep = "id", 3, encoding.KeepRandom
	}
	return e, text.String()
}

// A packed table has the numbers of the table that is not, in less memory: as it is read,
// without codes, and with derived columns.
func TestPackedTable(t *testing.T) {
	for _, units := range []bool{false, true} {
		for _, codes := range []bool{false, true} {
			e, text := packable(units)
			path := modelstest.File(t, "a.csv", text)
			var tables [2][]string
			var words [2]int
			for k, from := range []int64{0, 1} {
				rows, _, err := readOne(path, e, Options{Precision: Float32, Spare: 2, Codes: codes, PackFrom: from, MaxMemory: 1 << 20, Selection: noise.Insecure(1).Stream(noise.RowSelection)})
				if err != nil {
					t.Fatal(err)
				}
				if packed := rows.Packing != nil; packed != (k == 1) {
					t.Fatalf("from %d bytes on: packed is %v", from, packed)
				}
				words[k] = rows.Stride
				if got := RecordBytes(e, 2, rows.N, from); got != 4*rows.Stride {
					t.Errorf("from %d bytes on: a record is said to take %d bytes, and takes %d", from, got, 4*rows.Stride)
				}
				tables[k] = encoded(rows)
				rows.Finish()
				tables[k] = append(tables[k], encoded(rows)...)
				for _, derived := range []int{2, 20} { // in the room, and beyond it
					if err := rows.Widen(e.Width() + derived); err != nil {
						t.Fatal(err)
					}
					rows.Set(7, e.Width(), []float64{-3.5, 1e6})
					rows.Set(rows.N-1, e.Width()+1, []float64{300})
					tables[k] = append(tables[k], encoded(rows)...)
				}
			}
			if words[1] > words[0]*2/3 {
				t.Errorf("a packed record has %d words of %d", words[1], words[0])
			}
			for i := range tables[0] {
				if tables[0][i] != tables[1][i] {
					t.Fatalf("units %v, codes %v: record %d is %s packed, %s else", units, codes, i, tables[1][i], tables[0][i])
				}
			}
		}
	}
}

// Runs cover each column that is read once, where set puts it.
func TestPackedRuns(t *testing.T) {
	for _, units := range []bool{false, true} {
		e, _ := packable(units)
		p := packingOf(e, 3)
		k := e.Width() + 3
		record, want, got := make([]float32, p.Words(k)), make([]float64, k), make([]float64, k)
		for j := range k {
			want[j] = float64(1 + j%200)
			if d := p.slot(j).numbers; d != nil {
				want[j] = float64(d.numbers[j%len(d.numbers)])
			}
			p.set(record, j, want[j])
		}
		runs := p.Runs(k, func(j int) bool { return j != 6 })
		for _, run := range runs {
			one := &Rows{F32: record, Stride: len(record), Packing: p}
			for j := run.First; j < run.First+run.Count; j++ {
				got[j] += one.Number(0, j)
				at := p.slot(j)
				if at.size != run.Size || at.at != run.At+run.Size*(j-run.First) || (at.numbers == nil) != (run.Numbers[j-run.First] == nil) {
					t.Errorf("column %d is at %+v, and in the run from %d of %d bytes", j, at, run.First, run.Size)
				}
			}
		}
		want[6] = 0
		if !slices.Equal(got, want) {
			t.Errorf("runs have %v, want %v", got, want)
		}
		if !units && len(runs) != 7 { // g; x; indicator and codes; other tokens and n; m; two of m and n; n/3 and derived
			t.Errorf("%d runs", len(runs))
		}
	}
}

// Numbers with decimals or without close bounds, many levels and texts of bytes keep their
// 4 bytes.
func TestNotPacked(t *testing.T) {
	levels := make([]string, 257)
	low, high, half := 0.0, 65534.0, 0.5
	for name, f := range map[string]encoding.Field{
		"real": {Kind: encoding.Numeric, Type: data.Real, Lower: &low, Upper: &low}, "open": {Kind: encoding.Numeric, Type: data.Integer, Lower: &low},
		"wide": {Kind: encoding.Numeric, Type: data.Integer, Lower: &low, Upper: &high}, "half": {Kind: encoding.Numeric, Type: data.Integer, Lower: &half, Upper: &high},
		"levels": {Kind: encoding.LevelCode, Levels: levels}, "bytes": {Kind: encoding.Tokens}, "vocabulary": {Kind: encoding.Tokens, Vocabulary: levels},
	} {
		if at := narrowest(&f); at.size != 4 {
			t.Errorf("%s: in %d bytes", name, at.size)
		}
	}
}

// Every whole number between the bounds has the float32 of a table that is not packed.
func TestDictionary(t *testing.T) {
	for _, high := range []float64{253, 254, 65532, 65533} {
		low := -17.0
		high += low
		f := encoding.Field{Kind: encoding.Numeric, Type: data.Integer, Lower: &low, Upper: &high, Center: 3.7, Scale: 0.3, Missing: encoding.MissingImpute, Impute: 1.5}
		at := narrowest(&f)
		if want := 1 + min(1, int(high-low)/254); at.size != want {
			t.Errorf("%g numbers: %d bytes, want %d", high-low+1, at.size, want)
		}
		r := resolve(f)
		for x := low; x <= high; x++ {
			if got, want := at.numbers.numbers[at.numbers.code(r.encode(x))], float32(r.encode(x)); got != want {
				t.Fatalf("%g is %g, want %g", x, got, want)
			}
		}
		if got := at.numbers.numbers[at.numbers.code(r.imputed)]; got != float32(r.imputed) || at.numbers.code(0) != 0 {
			t.Errorf("imputed: %g, want %g; code of 0: %d", got, r.imputed, at.numbers.code(0))
		}
	}
}
