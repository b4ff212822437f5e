package verify_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/release"
	"d3p/internal/report/reporttest"
	"d3p/internal/verify"
)

// No damage of a Parquet file that another build is said to have written is a panic.
func TestDamagedParquet(t *testing.T) {
	whole := reporttest.Contents(t, reporttest.Example(t, plan.Config{Epsilon: 1, Steps: 250}))["trace.parquet"]
	honest := release.File{Name: "trace.parquet", Write: func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(whole))
		return err
	}}
	wrong := 0
	for at := 0; at < len(whole); at += 5 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x11
		if ok, _ := verify.Rewritten(honest, damaged, false); !ok {
			wrong++
		}
	}
	if wrong < len(whole)/50 {
		t.Errorf("%d of %d damages are found", wrong, len(whole))
	}
}
