package encoding

import (
	"math"
	"testing"
)

// Decoding inverts encoding for every kind of field.
func TestDecodeInvertsEncode(t *testing.T) {
	e := Encoding{K: 6, Fields: []Field{
		{Column: "real", Kind: Numeric, Transform: "log", Center: 1, Scale: 2, Out: []int{0}},
		{Column: "share", Kind: Quantile, Out: []int{1}},
		{Column: "ordinal", Kind: LevelCode, Levels: []string{"a", "b", "c"}, Out: []int{2}},
		{Column: "treated", Kind: OneHot, Levels: []string{"a", "b", "c"}, Out: []int{-1, 3, 4}},
		{Column: "all", Kind: OneHot, Levels: []string{"a"}, Out: []int{5}},
	}}
	row := make([]float64, e.K)
	for level := range 3 {
		want := map[string]float64{"real": 2.5, "share": 0.3, "ordinal": float64(level), "treated": float64(level), "all": 0}
		e.Encode(row, func(column string) float64 { return want[column] })
		for i := range e.Fields {
			f := &e.Fields[i]
			if got := f.Decode(row); math.Abs(got-want[f.Column]) > 1e-12 {
				t.Errorf("%s is %g, want %g", f.Column, got, want[f.Column])
			}
		}
	}
	if none := e.Fields[4].Decode(make([]float64, e.K)); !math.IsNaN(none) {
		t.Errorf("a row without any level has level %g", none)
	}
}
