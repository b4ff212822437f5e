package forward_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/net"
	"d3p/internal/onnx/onnxtest"
	"d3p/internal/predict"
	"d3p/internal/predict/forward"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// An input is what a test gives to both: the cells of a table for d3p, and numbers for the
// file, row by row.
type input struct {
	columns []string
	cells   []func(row int) string
	dims    []int
	numbers func(row int) []float64
}

const rows = 20

// agree compares the outputs of the file with predictions, row by row, and returns the file
// and the number of rows without a prediction.
func agree(t *testing.T, m *models.Model, inputs map[string]input) (*onnxtest.Model, int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(m.P)))
	theta := make([]float64, m.P)
	for i := range theta {
		theta[i] = rng.NormFloat64() / 2
	}
	made, err := forward.Model(m, theta, "test")
	if err != nil {
		t.Fatal(err)
	}
	file := onnxtest.Read(t, made.Bytes())
	var header []string
	lines := make([][]string, rows)
	feeds := make(map[string]onnxtest.Tensor)
	for name, in := range inputs {
		feed := onnxtest.Tensor{Dims: append([]int{rows}, in.dims...)}
		header = append(header, in.columns...)
		for i := range rows {
			for _, cell := range in.cells {
				lines[i] = append(lines[i], cell(i))
			}
			feed.Values = append(feed.Values, in.numbers(i)...)
		}
		feeds[name] = feed
	}
	outputs := file.Run(t, feeds)
	rejected := 0
	p := predict.Posterior{S: 1, Prob: 0.9, Point: true, Draw: func(dst []float64, _ int) { copy(dst, theta) }}
	err = predict.Predict(m, p, encoded(t, m, header, lines), noise.NewRandom(noise.Public(1).Stream(noise.Prediction)), func(i int, got *predict.Prediction) error {
		if !got.OK {
			rejected++
		}
		for k, target := range predict.Targets(m) {
			want := []float64{got.Targets[k].Mean}
			if target.Levels > 0 {
				want = got.Targets[k].Levels
			}
			out := outputs[target.Name].Values[i*len(want) : (i+1)*len(want)]
			for j, x := range out {
				if !got.OK && !math.IsNaN(x) || got.OK && !(math.Abs(x-want[j]) <= 2e-6*(1+math.Abs(want[j]))) {
					t.Fatalf("%s of row %d is %v, want %v", target.Name, i, out, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return file, rejected
}

// encoded reads a table as d3p predict does.
func encoded(t *testing.T, m *models.Model, header []string, lines [][]string) predict.Rows {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.csv")
	text := strings.Join(header, ",") + "\n"
	for _, line := range lines {
		text += strings.Join(line, ",") + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _, err := privacy.ReadNewRows(path, predict.EncodingOf(m))
	if err != nil {
		t.Fatal(err)
	}
	return predict.Rows{Data: r.F64, N: r.N, Stride: r.Stride, Valid: r.Valid}
}

// array is an input of numbers that are the columns p0, p1, ... of a table.
func array(rng *rand.Rand, dims []int, number func() float64) input {
	n := 1
	for _, d := range dims {
		n *= d
	}
	in := input{dims: dims}
	values := make([][]float64, rows)
	for i := range values {
		for range n {
			values[i] = append(values[i], number())
		}
	}
	for k := range n {
		in.columns = append(in.columns, "p"+strconv.Itoa(k))
		in.cells = append(in.cells, func(row int) string { return strconv.FormatFloat(values[row][k], 'g', -1, 64) })
	}
	in.numbers = func(row int) []float64 { return values[row] }
	return in
}

// Every kind of layer computes what predictions do, with the operator that ONNX has for it.
func TestLayers(t *testing.T) {
	sizes := map[string]int{"x": 4, "y": 5, "z": 3, "t": 5, "v": 6}
	operators := map[string]string{"dense": "Gemm", "embedding": "Gather", "rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
	for name, operator := range map[string]string{"conv%dd": "Conv", "conv%dd_transpose": "ConvTranspose", "max_pool%dd": "MaxPool", "avg_pool%dd": "AveragePool"} {
		for axes := 1; axes <= 3; axes++ {
			operators[fmt.Sprintf(name, axes)] = operator
		}
	}
	more := []net.Kind{
		{Name: "odd padding", Input: "x, y, z", Example: "conv2d: {filters: 3, kernel: [2, 3], stride: [2, 1], padding: same, bias: false}"},
		{Name: "pools", Input: "y, x", Example: "max_pool2d: {kernel: 3, stride: 2, padding: 1}"},
		{Name: "means", Input: "x, y", Example: "avg_pool1d: {kernel: 3, stride: 2, padding: same}"},
		{Name: "enlarging", Input: "x, y, z", Example: "conv2d_transpose: {filters: 2, kernel: [1, 3], stride: 2, padding: same}"},
		{Name: "places side by side", Input: "x, y", Example: "conv1d_transpose: {filters: 2, kernel: 2, stride: 2, activation: tanh}"},
		{Name: "cells", Input: "x, y", Example: "gru: {units: 3, depth: 2, bidirectional: true, output: sequence}"},
		{Name: "no biases", Input: "x, y", Example: "gru: {units: 2, bias: false}"},
		{Name: "both ends", Input: "x, y", Example: "lstm: {units: 2, depth: 2, bidirectional: true}"},
		{Name: "sum", Input: "x, y", Example: "residual: {layers: [{conv1d: {filters: 4, kernel: 3, padding: 1, activation: relu}}, {conv1d: {filters: 4, kernel: 1}}], activation: relu}"},
	}
	for _, k := range append(net.Kinds(), more...) {
		t.Run(k.Name, func(t *testing.T) {
			var dims []int
			for _, d := range strings.Split(k.Input, ", ") {
				dims = append(dims, sizes[d])
			}
			rng := rand.New(rand.NewPCG(1, 2))
			number, kind := func() float64 { return math.Round(5000*rng.Float64()-2500) / 1000 }, "lower: -2, upper: 2, scale: {center: 0.5, by: 2}"
			if k.Name == "embedding" {
				number, kind = func() float64 { return float64(rng.IntN(4)) }, "type: integer, lower: 0, upper: 3, scale: {center: 0, by: 1}"
			}
			in := array(rng, dims, number)
			text := fmt.Sprintf(`d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    y: {type: real, lower: -9, upper: 9, scale: {center: 1, by: 2}}
  tensors:
    img: {from: columns("p0".."p%d"), dims: [%s], shape: %s, source: test, %s}
nets:
  net:
    input: [%[2]s]
    layers:
      - %[5]s
      - flatten
      - dense: {units: 1}
core:
  rows:
    observe:
      y: normal(net(img), 1)
`, len(in.columns)-1, k.Input, strings.ReplaceAll(fmt.Sprint(dims), " ", ", "), kind, k.Example)
			file, _ := agree(t, modelstest.Compile(t, "m.yaml", text), map[string]input{"img": in})
			if count := file.Operators(); operators[k.Name] != "" && count[operators[k.Name]] == 0 {
				t.Errorf("no operator %s among %v", operators[k.Name], count)
			}
		})
	}
}

// Sequences from texts, whose tokens are the input: only the first positions count.
func TestLengths(t *testing.T) {
	for _, layers := range []string{
		"{gru: {units: 3, bidirectional: true, depth: 2}}", "{lstm: {units: 3, output: sequence}}, flatten", "{rnn: {units: 2}}",
		"positions, {transformer: {heads: 1, units: 2}}, global_avg_pool", "{conv1d: {filters: 2, kernel: 2}}, {flatten: {}}",
		"{max_pool1d: {kernel: 2, padding: same}}, flatten", "{conv1d_transpose: {filters: 2, kernel: 2}}, flatten",
	} {
		t.Run(layers, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(4, 5))
			texts := make([]string, rows)
			for i := range texts {
				for range i % 8 {
					texts[i] += string(rune('a' + rng.IntN(6)))
				}
			}
			in := input{columns: []string{"word"}, cells: []func(int) string{func(row int) string { return `"` + texts[row] + `"` }}, dims: []int{6}}
			in.numbers = func(row int) []float64 {
				list := make([]float64, 6)
				for i := range min(6, len(texts[row])) {
					list[i] = float64(texts[row][i]) + 1
				}
				return list
			}
			text := `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    y: {type: category, levels: [a, b, c]}
  tensors:
    letters: {from: word, text: bytes, dims: [t], shape: [6]}
nets:
  net: {input: [t], layers: [{embedding: {levels: letters_levels, units: 2}}, ` + layers + `, {dense: {units: class}}]}
core:
  dims: {class: levels(y)}
  rows:
    observe:
      y: categorical(logits=net(letters, length=letters_length))
`
			file, _ := agree(t, modelstest.Compile(t, "m.yaml", text), map[string]input{"letters": in})
			if file.Types["letters"] != 7 || file.Metadata["d3p.levels.y"] != `["a","b","c"]` {
				t.Errorf("types %v, metadata %v", file.Types, file.Metadata)
			}
		})
	}
}

// Lists of tokens are one input, in which numbers that are no token are unknown.
func TestLists(t *testing.T) {
	for tokens, word := range map[string]func(k int) string{
		"9":         strconv.Itoa,
		"words.txt": func(k int) string { return "w" + strconv.Itoa(k) },
	} {
		rng := rand.New(rand.NewPCG(6, 7))
		lists := make([][]float64, rows)
		for i := range lists {
			lists[i] = make([]float64, 4)
			for k := range i % 5 {
				lists[i][k] = float64(1 + rng.IntN(8))
				if rng.IntN(5) == 0 {
					lists[i][k] = []float64{-3, 9, 1e6}[rng.IntN(3)]
				}
			}
		}
		in := input{columns: []string{"list"}, dims: []int{4}, numbers: func(row int) []float64 { return lists[row] }}
		in.cells = []func(int) string{func(row int) string {
			var words []string
			for k := range row % 5 {
				words = append(words, word(int(lists[row][k])))
			}
			return `"` + strings.Join(words, " ") + `"`
		}}
		m, err := models.Read("m.yaml", []byte(`d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    y: {type: binary}
  tensors:
    seen: {from: list, tokens: `+tokens+`, dims: [t], shape: [4]}
nets:
  net: {input: [t], layers: [{embedding: {levels: seen_levels, units: 2}}, flatten, {dense: {units: 1}}]}
core:
  rows: {observe: {y: "bernoulli(logits=net(seen))"}}
`), func(string) ([]byte, error) { return []byte("w2\nw3\nw4\nw5\nw6\nw7\nw8\n"), nil })
		if err != nil {
			t.Fatal(err)
		}
		if file, _ := agree(t, m, map[string]input{"seen": in}); file.Types["seen"] != 7 {
			t.Errorf("types %v", file.Types)
		}
	}
}

// Columns of every type, with bounds, transforms, missing and unknown values: a row without
// a value that the model needs has NaN, all others the prediction.
func TestColumns(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    age: {type: integer, lower: 18, upper: 90, scale: {center: 50, by: 15}}
    dose: {type: real, lower: 0.1, upper: 100, transform: log, scale: {center: 1, by: 2}, missing: {impute: 5, indicator: true}}
    share: {type: real, lower: 0.01, upper: 0.99, transform: logit}
    day: {type: date, lower: 2020-01-01, upper: 2020-12-31}
    land: {type: category, levels: [north, south, east], unknown: east}
    sex: {type: binary, levels: [female, male], missing: {impute: male}}
    dead: {type: binary}
    cost: {type: real, lower: 0, upper: 90, scale: {center: 3, by: 2}}
nets:
  net: {input: [t], layers: [{dense: {units: 3, activation: tanh}}, {dense: {units: 1}}]}
core:
  dims: {t: [age, dose, dose_missing, share, day, "land=south", "land=east", sex]}
  rows:
    let:
      older: max(raw(age) - 50, 0) / 10
    observe:
      dead: bernoulli(logits=net(columns(t)))
      cost: normal(net(columns(t)) + 0.3 * older, 1)
`)
	rng := rand.New(rand.NewPCG(6, 7))
	number := func(gap int, low, high float64) input {
		list := make([]string, rows)
		for i := range list {
			if gap == 0 || i%gap != gap-1 {
				list[i] = strconv.FormatFloat(math.Round(low+(high-low)*rng.Float64()), 'g', -1, 64)
				if high < 2 {
					list[i] = strconv.FormatFloat(low+(high-low)*rng.Float64(), 'f', 3, 64)
				}
			}
		}
		return input{cells: []func(int) string{func(row int) string { return list[row] }}, numbers: func(row int) []float64 {
			x, err := strconv.ParseFloat(list[row], 64)
			if err != nil {
				x = math.NaN()
			}
			return []float64{x}
		}}
	}
	level := func(missing int, names ...string) input { // "" is missing
		at := func(row int) int {
			if missing > 0 && row%missing == 2 {
				return -1
			}
			return row % len(names)
		}
		cell := func(row int) string {
			if at(row) < 0 {
				return ""
			}
			return names[at(row)]
		}
		return input{cells: []func(int) string{cell}, numbers: func(row int) []float64 { return []float64{float64(at(row))} }}
	}
	day := input{cells: []func(int) string{func(row int) string { return fmt.Sprintf("2020-02-%02d", 1+row) }}, numbers: func(row int) []float64 { return []float64{18262 + 31 + float64(row)} }}
	inputs := map[string]input{"age": number(6, 10, 100), "dose": number(4, 0, 120), "share": number(0, 0, 1), "day": day,
		"land": level(0, "north", "south", "east", "elsewhere"), "sex": level(5, "female", "male")}
	for name, in := range inputs {
		in.columns = []string{name}
		inputs[name] = in
	}
	file, rejected := agree(t, m, inputs)
	if rejected != 3 {
		t.Errorf("%d rows have no prediction, want the 3 without age", rejected)
	}
	if !slices.Equal(file.Outputs, []string{"dead", "cost"}) || file.Metadata["d3p.levels.land"] != `["north","south","east"]` || file.Metadata["d3p.levels.dead"] != `["0","1"]` {
		t.Errorf("outputs %v, metadata %v", file.Outputs, file.Metadata)
	}
}

// A network alone has its input and an output for each head, both as its layers see them.
func TestNet(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", `d3p: 1
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 100}
  tensors:
    img: {from: columns("p0".."p3"), dims: [y, x], shape: [2, 2], lower: 0, upper: 255, scale: {center: 0, by: 255}}
nets:
  encoder:
    input: [y, x]
    layers: [flatten]
    heads:
      loc: [{dense: {units: 1}}]
      scale: [{dense: {units: 1}}, exp]
  decoder: {input: [z], layers: [{dense: {units: 4}}, {reshape: {dims: [y, x]}}]}
core:
  dims: {z: 1}
  rows:
    latent:
      code: normal(0, 1) [z]
    observe:
      img: normal(decoder(code), 1)
guide:
  type: amortised
  rows:
    code: normal(encoder(img).loc, encoder(img).scale)
`)
	theta := make([]float64, m.P)
	for i := range theta {
		theta[i] = float64(i%7)/4 - 0.5
	}
	weights := func(name string) []float64 {
		for _, p := range m.Params {
			if p.Name == name {
				return theta[p.Offset : p.Offset+p.Size]
			}
		}
		t.Fatalf("no weights %s", name)
		return nil
	}
	run := func(name string, input onnxtest.Tensor) map[string]onnxtest.Tensor {
		made, err := forward.Net(m, name, theta, "test")
		if err != nil {
			t.Fatal(err)
		}
		return onnxtest.Read(t, made.Bytes()).Run(t, map[string]onnxtest.Tensor{"input": input})
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) < 1e-6) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	x := onnxtest.Tensor{Dims: []int{2, 2, 2}, Values: []float64{0, 0.25, 0.5, 1, 1, 0, -1, 0.125}}
	codes := run("encoder", x)
	for r := range 2 {
		loc, scale := weights("encoder.loc.dense1.bias")[0], weights("encoder.scale.dense1.bias")[0]
		for i, v := range x.Values[4*r : 4*r+4] {
			loc += v * weights("encoder.loc.dense1.weight")[i]
			scale += v * weights("encoder.scale.dense1.weight")[i]
		}
		near("loc", codes["loc"].Values[r], loc)
		near("scale", codes["scale"].Values[r], math.Exp(scale))
	}
	image := run("decoder", onnxtest.Tensor{Dims: []int{1, 1}, Values: []float64{-1.5}})["output"]
	if !slices.Equal(image.Dims, []int{1, 2, 2}) {
		t.Errorf("the image has dims %v", image.Dims)
	}
	for i, v := range image.Values {
		near("a pixel", v, weights("decoder.dense1.bias")[i]-1.5*weights("decoder.dense1.weight")[i])
	}
	if none, err := forward.Net(m, "code", theta, "test"); none != nil || err != nil {
		t.Errorf("a network that does not exist: %v, %v", none, err)
	}
}

// A layer that ONNX cannot compute is refused by name.
func TestRefused(t *testing.T) {
	latent := modelstest.Read(t, "../../../configs/vae-mnist.yaml")
	if _, err := forward.Model(latent, make([]float64, latent.P), "test"); !errors.Is(err, forward.ErrLatent) {
		t.Errorf("local latents: %v", err)
	}
	special := modelstest.Compile(t, "m.yaml", `d3p: 1
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: 1, upper: 9}
    y: {type: real, lower: -9, upper: 9}
core:
  params:
    a: normal(0, 1)
  rows:
    observe:
      y: normal(a + lgamma(raw(x)), 1)
`)
	if _, err := forward.Model(special, []float64{1}, "test"); err == nil || !strings.Contains(err.Error(), "y: ONNX has no function lgamma") {
		t.Errorf("log gamma: %v", err)
	}
}
