package outputs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/settings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// grid makes V variables of S draws with different, known values.
func grid(names []string, s int) Draws {
	d := Draws{S: s}
	for v, name := range names {
		share := float64(v) / 10
		d.Variables = append(d.Variables, Variable{Name: name, Transform: "identity", Constraint: "real", NoiseShare: &share})
		for i := range s {
			d.Values = append(d.Values, float64(v)+math.Sqrt(float64(i)))
		}
		d.Groups = append(d.Groups, Group{Name: name, First: v, Size: 1})
	}
	return d
}

// The wanted numbers are from Python: statistics.mean, median and stdev of the
// square roots of 0 to 9, numpy's linear quantiles (R's type 7), 1.4826 times
// the median deviation from the median, and posterior's formula of mcse_sd.
func TestSummarise(t *testing.T) {
	got := grid([]string{"a"}, 10).Summarise()[0]
	want := map[string][2]float64{
		"mean":   {got.Mean, 1.930600052603572},
		"median": {got.Median, 2.118033988749895},
		"sd":     {got.SD, 0.9266327553070158},
		"mad":    {got.MAD, 0.9129389331050056},
		"q5":     {got.Q5, 0.45},
		"q95":    {got.Q95, 2.9227922061357857},
		"mcse":   {got.MCSESD, 0.18901237738682172},
	}
	for name, pair := range want {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s = %.16g, want %.16g", name, pair[0], pair[1])
		}
	}
	if math.Abs(got.MCSEMean-got.SD/math.Sqrt(10)) > 1e-15 {
		t.Errorf("mcse_mean = %g, want sd/sqrt(S)", got.MCSEMean)
	}
}

// TestErrorOfASpread: draws x_t = −.8·x_{t−1} + noise know their mean three times as well as
// independent ones, but squares have the correlation .64: their error is √(1.64/.36) times.
func TestErrorOfASpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 40_000)
	for i := range x {
		x[i] = rng.NormFloat64()
		if i > 0 {
			x[i] = -0.8*x[i-1] + 0.6*x[i]
		}
	}
	s := summarise(Variable{Name: "a"}, x, slices.Sorted(slices.Values(x)))
	independent := s.MCSESD
	s.diagnose(x, 4)
	if got, want := s.MCSESD/independent, math.Sqrt(1.64/0.36); math.Abs(got/want-1) > 0.15 {
		t.Errorf("error of the sd: %.2f times, want %.2f", got, want)
	}
}

func TestSummaryFileHeader(t *testing.T) {
	for banner, want := range map[string]string{
		"":            "variable,mean,median,sd,mad,q5,q95,mcse_mean,mcse_sd,dp_noise_share",
		"NOT PRIVATE": "variable,mean,median,sd,mad,q5,q95,mcse_mean,mcse_sd,dp_noise_share,privacy",
	} {
		var out bytes.Buffer
		if err := SummaryFile(grid([]string{"a", "b[x,y]"}, 5).Summarise(), banner).Write(&out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if lines[0] != want {
			t.Errorf("header %q, want %q", lines[0], want)
		}
		if !strings.HasPrefix(lines[2], `"b[x,y]",`) || !strings.HasSuffix(lines[2], banner) {
			t.Errorf("second row %q", lines[2])
		}
	}
}

// Arrow's own reader finds the names, types, values and key/values that we wrote.
func TestDrawsParquetRoundTrip(t *testing.T) {
	d := grid([]string{"Intercept", "b[age]", "r_hospital[H01,Intercept]"}, 100)
	var out bytes.Buffer
	if err := DrawsFile(d, map[string]string{"d3p.schema_version": "1"}).Write(&out); err != nil {
		t.Fatal(err)
	}
	reader, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if v := reader.MetaData().KeyValueMetadata().FindValue("d3p.schema_version"); v == nil || *v != "1" {
		t.Errorf("key d3p.schema_version = %v, want 1", v)
	}
	arrow, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := arrow.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range table.Schema().Fields() {
		names = append(names, f.Name+" "+f.Type.Name())
	}
	want := ".chain int32|.iteration int32|.draw int32|Intercept float64|b[age] float64|r_hospital[H01,Intercept] float64"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("columns %s\nwant    %s", got, want)
	}
	for v := range d.Variables {
		column := table.Column(3 + v).Data().Chunk(0).(*array.Float64)
		for i, x := range d.Of(v) {
			if column.Value(i) != x {
				t.Fatalf("%s, draw %d: %g, want %g", d.Variables[v].Name, i, column.Value(i), x)
			}
		}
	}
	for key, want := range map[string]string{"d3p.transform": "identity", "d3p.constraint": "real"} {
		if value, _ := table.Schema().Field(4).Metadata.GetValue(key); value != want {
			t.Errorf("%s of b[age] is %q, want %s", key, value, want)
		}
	}
}

// A parameter of more than 2000 elements is one column of lists, row-major.
func TestDrawsParquetOfATensor(t *testing.T) {
	const rows, columns, draws = 41, 50, 3
	d := grid(make([]string, 1+rows*columns), draws)
	d.Groups = []Group{{Name: "a", Size: 1}, {Name: "w", Dims: []Dim{{"in", make([]string, rows)}, {"out", make([]string, columns)}}, First: 1, Size: rows * columns}}
	d.Variables[1].Dims = "in,out"
	var out bytes.Buffer
	if err := DrawsFile(d, nil).Write(&out); err != nil {
		t.Fatal(err)
	}
	table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(out.Bytes()), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	field := table.Schema().Field(4)
	if shape, _ := field.Metadata.GetValue("d3p.shape"); field.Name != "w" || shape != "41,50" || field.Type.ID() != arrow.LIST {
		t.Fatalf("the tensor is %v", field)
	}
	values := table.Column(4).Data().Chunk(0).(*array.List).ListValues().(*array.Float64)
	for s := range draws {
		for e := range rows * columns {
			if got, want := values.Value(s*rows*columns+e), d.Of(1 + e)[s]; got != want {
				t.Fatalf("element %d of draw %d is %g, want %g", e, s, got, want)
			}
		}
	}
}

func BenchmarkDrawsParquet(b *testing.B) {
	names := make([]string, 200)
	for i := range names {
		names[i] = "b[" + strings.Repeat("x", i+1) + "]"
	}
	d := grid(names, 4000)
	for b.Loop() {
		if err := DrawsFile(d, nil).Write(new(bytes.Buffer)); err != nil {
			b.Fatal(err)
		}
	}
}

// tall are 4000 draws of 200 variables.
func tall() *Sample {
	names := make([]string, 200)
	for v := range names {
		names[v] = fmt.Sprintf("b[x%d]", v+1)
	}
	d := grid(names, 4000)
	d.Names, d.Free, d.Center = names, d.Values, make([]float64, len(names))
	d.Groups = []Group{{Name: "b", Dims: []Dim{{"coef", names}}, Size: len(names)}}
	return &Sample{Run: "0", Model: "tall", Claim: "none", Draws: d}
}

// Writing 4000 draws of 200 parameters takes less than 0.3 s in any format.
func BenchmarkDraws(b *testing.B) {
	sample := tall()
	for _, format := range settings.FormatNames() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				for _, f := range sample.Files([]string{format}) {
					if err := f.Write(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("summary", func(b *testing.B) {
		for b.Loop() {
			sample.Draws.Summarise()
		}
	})
}

// Good chains agree, however few draws a user asks for: none of 3000 sets of independent draws is
// refused. A chain that is stuck elsewhere shows in 100 draws.
func TestFewDrawsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{40, 100, 400} {
		for trial := range 1000 {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			s := Summary{Variable: "b"}
			s.diagnose(x, 4)
			if err := Agreement([]Summary{s}, 0, true); err != nil {
				t.Fatalf("%d draws, set %d: %v", n, trial, err)
			}
			for i := range n / 4 {
				x[i] += 5
			}
			s.diagnose(x, 4)
			if n >= 100 && Agreement([]Summary{s}, 0, true) == nil {
				t.Fatalf("%d draws, set %d: a chain 5 deviations away agrees", n, trial)
			}
		}
	}
}
