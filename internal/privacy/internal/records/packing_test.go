package records

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/encoding"
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
	e := encoding.Encoding{K: 11, MissingTokens: []string{"NA"}, Fields: []encoding.Field{
		{Column: "g", Kind: encoding.OneHot, Levels: []string{"a", "b", "c", "d"}, Out: []int{-1, 0, 1, 2}, Missing: encoding.MissingImpute, Impute: -1, Unknown: encoding.UnknownReject},
		{Column: "x", Kind: encoding.Numeric, Lower: &low, Upper: &high, Center: 0.3, Missing: encoding.MissingImpute, Impute: 0.1, Out: []int{3}},
		{Column: "x", Kind: encoding.MissingIndicator, Missing: encoding.MissingImpute, Out: []int{4}},
		{Column: "h", Kind: encoding.LevelCode, Levels: many, Out: []int{5}, Missing: encoding.MissingReject, Unknown: encoding.UnknownMissing},
		{Column: "w", Kind: encoding.Tokens, Vocabulary: []string{"so", "it", "is"}, Missing: encoding.MissingImpute, Out: []int{6, 7, 8, 9, 10}},
	}}
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("id,g,x,h,w\n")
	for i := range 4000 {
		g := []string{"a", "b", "c", "d", "NA", "zz"}[rng.IntN(6)]
		x := []string{"NA", "1e300", "-0.7", fmt.Sprint(rng.NormFloat64())}[rng.IntN(4)]
		h := []string{many[rng.IntN(256)], many[255], many[0], "NA", "-1"}[rng.IntN(5)]
		w := []string{"so it is", "is it", "", "what so ever it may be so"}[rng.IntN(4)]
		fmt.Fprintf(&text, "%d,%s,%s,%s,%s\n", i/5*7%1000, g, x, h, w)
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
			path := write(t, "a.csv", text)
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
			p.set(record, j, want[j])
		}
		runs := p.Runs(k, func(j int) bool { return j != 6 })
		for _, run := range runs {
			one := &Rows{F32: record, Stride: len(record), Packing: p}
			for j := run.First; j < run.First+run.Count; j++ {
				got[j] += one.Number(0, j)
				if at := p.word(j); run.InBytes != (at < 0) || !run.InBytes && 4*at != run.At+4*(j-run.First) || run.InBytes && -1-at != run.At+j-run.First {
					t.Errorf("column %d is at %d, and in %+v", j, at, run)
				}
			}
		}
		want[6] = 0
		if !slices.Equal(got, want) {
			t.Errorf("runs have %v, want %v", got, want)
		}
		if !units && len(runs) != 5 { // g, x, indicator and codes, the other tokens, derived
			t.Errorf("%d runs: %+v", len(runs), runs)
		}
	}
}

// Numbers with decimals, many levels and texts of bytes keep their 4 bytes.
func TestNotPacked(t *testing.T) {
	levels := make([]string, 257)
	for name, f := range map[string]encoding.Field{
		"number": {Kind: encoding.Numeric}, "levels": {Kind: encoding.LevelCode, Levels: levels},
		"bytes": {Kind: encoding.Tokens}, "vocabulary": {Kind: encoding.Tokens, Vocabulary: levels},
	} {
		if fitsByte(&f) {
			t.Errorf("%s: in a byte", name)
		}
	}
}
