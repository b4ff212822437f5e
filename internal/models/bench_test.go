package models_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"d3p/internal/models"
)

// longCore is a model in some 200 lines of core blocks: many columns, each with
// an intercept and a slope of its own.
func longCore(columns int) []byte {
	var b strings.Builder
	b.WriteString(dataBlock(columns, "t: {type: real, lower: 0, upper: 1}") + "core:\n  dims:\n    k: 4\n  params:\n    w: dirichlet(1) [k]\n")
	for i := range columns {
		fmt.Fprintf(&b, "    a%d: normal(0, 1) [k]\n    s%d: half_normal(1)\n", i+1, i+1)
	}
	b.WriteString("  rows:\n    let:\n")
	for i := range columns {
		fmt.Fprintf(&b, "      m%d: a%d * t\n", i+1, i+1)
	}
	b.WriteString("    observe:\n")
	for i := range columns {
		fmt.Fprintf(&b, "      x%d: mixture(w, normal(m%d, s%d), over=k)\n", i+1, i+1, i+1)
	}
	return []byte(b.String())
}

// BenchmarkRead measures parsing and compiling, in lines per second.
func BenchmarkRead(b *testing.B) {
	logistic, err := os.ReadFile("../../configs/logistic.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		src  []byte
	}{{"logistic", logistic}, {"core", longCore(40)}} {
		b.Run(c.name, func(b *testing.B) {
			lines := strings.Count(string(c.src), "\n")
			for b.Loop() {
				if _, err := models.Read("m.yaml", c.src, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
