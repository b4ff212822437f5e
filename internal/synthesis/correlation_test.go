package synthesis_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stats"
	"d3p/internal/stattest"
)

const twoModel = `
d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 3000}
  columns:
    x: {type: real, lower: -6, upper: 6}
    y: {type: real, lower: -6, upper: 6}
    z: {type: real, lower: -10, upper: 10}
    ill: {type: binary, levels: ["no", "yes"]}
twin: {engine: marginals}
`

var correlation = flag.Float64("correlation", 0.65, "of x and y in TestSeparateTablesCoverCorrelation")

// The population's coefficients: intercept, x, y.
var (
	zTruth   = []float64{0.5, 1, 0.5}
	oddTruth = []float64{-0.5, 0.8, -0.4}
)

// normals draws n records: normal x and y with the correlation, z linear and ill logistic in them.
func normals(n int, random *noise.Random) [][]float64 {
	table := make([][]float64, 4)
	for range n {
		x := random.Normal()
		y := *correlation*x + math.Sqrt(1-*correlation**correlation)*random.Normal()
		row := []float64{1, x, y}
		ill := 0.0
		if random.Uniform() < 1/(1+math.Exp(-dot(oddTruth, row))) {
			ill = 1
		}
		for k, v := range []float64{x, y, dot(zTruth, row) + random.Normal(), ill} {
			table[k] = append(table[k], v)
		}
	}
	return table
}

func normalsFile(x [][]float64) []byte {
	var b bytes.Buffer
	b.WriteString("x,y,z,ill\n")
	for i := range x[0] {
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%s\n", x[0][i], x[1][i], x[2][i], noYes[int(x[3][i])])
	}
	return b.Bytes()
}

// relations are the correlation of x and y and the coefficients of a linear and a logistic
// regression on both; a mean, a standard deviation and quantiles.
func relations(x [][]float64) (list []stats.Estimate) {
	n := float64(len(x[0]))
	r := correlated(x[0], x[1])
	list = append(list, stats.Estimate{Value: r, Error: (1 - r*r) / math.Sqrt(n)})
	row := func(i int) []float64 { return []float64{1, x[0][i], x[1][i]} }
	list = append(list, regression(x, 1, false, func(i int) []float64 { return []float64{1, x[0][i]} })[1])
	list = append(list, regression(x, 2, false, row)...)
	list = append(list, regression(x, 3, true, row)...)
	sum, squares := 0.0, 0.0
	for _, v := range x[2] {
		sum += v
		squares += v * v
	}
	sd := math.Sqrt(squares/n - sum*sum/n/n)
	list = append(list, stats.Estimate{Value: sum / n, Error: sd / math.Sqrt(n)}, stats.Estimate{Value: sd, Error: sd / math.Sqrt(2*n)})
	sorted := slices.Sorted(slices.Values(x[2]))
	for _, p := range []float64{0.1, 0.5, 0.9} {
		reach := math.Sqrt(n * p * (1 - p))
		at := func(rank float64) float64 { return sorted[int(rank)] }
		list = append(list, stats.Estimate{Value: at(n * p), Error: (at(n*p+reach) - at(n*p-reach)) / 2})
	}
	return list
}

func correlated(x, y []float64) float64 {
	var n, sx, sy, xx, yy, xy float64
	for i := range x {
		n++
		sx += x[i]
		sy += y[i]
		xx += x[i] * x[i]
		yy += y[i] * y[i]
		xy += x[i] * y[i]
	}
	return (xy - sx*sy/n) / math.Sqrt((xx-sx*sx/n)*(yy-sy*sy/n))
}

var relationNames = []string{
	"correlation", "y by x", "z, intercept", "z, x", "z, y", "ill, intercept", "ill, x", "ill, y",
	"mean z", "sd z", "z, 10 %", "z, 50 %", "z, 90 %",
}

// One table keeps a correlation that is behind the noise of single cells: of .65 in 3,000 records
// less than .5 was left where cells were shrunk towards independence.
func TestTwinKeepsCorrelation(t *testing.T) {
	const tables = 4
	m, got := modelstest.Compile(t, "m.yaml", twoModel), 0.0
	for k := range uint64(tables) {
		table, _ := learn(t, m, normalsFile(normals(3000, public(6000+k))), event.AddRemove, 16.8, 6100+k)
		x := draw(t, m, table, 3000, false, public(6200+k))
		got += correlated(x[0], x[1]) / tables
	}
	// The mean of four tables has a standard deviation of .01.
	if got < 0.57 || got > 0.7 {
		t.Errorf("the correlation is %.3f, want .65", got)
	}
}

// Intervals of 90 % hold correlations, and the coefficients of correlated columns.
func TestSeparateTablesCoverCorrelation(t *testing.T) {
	if testing.Short() {
		t.Skip("repeats fits")
	}
	stattest.SkipNumerics(t)
	truth := slices.Concat([]float64{*correlation, *correlation}, zTruth, oddTruth)
	for _, e := range relations(normals(1000000, public(1)))[len(truth):] {
		truth = append(truth, e.Value)
	}
	study{twoModel, func(random, _ *noise.Random) [][]float64 { return normals(3000, random) },
		normalsFile, relations, relationNames, truth}.cover(t)
}
