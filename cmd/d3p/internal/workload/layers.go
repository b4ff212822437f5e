package workload

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// Layer is a layer of a network, and its work for one record.
type Layer struct {
	Name     string   `json:"name"`
	Output   string   `json:"output"`
	Sizes    string   `json:"sizes"` // dims of the output
	Weights  int      `json:"weights"`
	Flops    int      `json:"flops"`              // of the forward pass of one record
	Gradient []string `json:"gradient,omitempty"` // form of one record's gradient
}

// Record is the work and memory of one record in a step.
type Record struct {
	Flops    int      `json:"flops_per_step"` // forward and backward pass, norms, and sum of clipped gradients
	Clipping int      `json:"flops_of_norms"`
	Values   int      `json:"values"`             // numbers kept for one record while a batch is computed
	Elements int      `json:"elements,omitempty"` // of the largest gradient that is written out for its norm
	Notes    []string `json:"written_out,omitempty"`

	Records int `json:"records_at_once"`      // that a thread works on at a time
	Bytes   int `json:"bytes_of_thread"`      // that a thread needs for them
	Batch   int `json:"batch,omitempty"`      // expected records of a step, if the model file gives them
	Step    int `json:"flops_step,omitempty"` // of a step with that many records
}

// LayersOf describes the networks of a model; nil when it has none.
func LayersOf(m *models.Model) ([]Layer, *Record) {
	if len(m.Layers) == 0 {
		return nil, nil
	}
	var layers []Layer
	for _, l := range m.Layers {
		layers = append(layers, Layer{l.Name, l.Out.String(), sizes(l.Out), l.Weights, l.Flops, gradientOf(m, l.Name)})
	}
	c := m.Likelihood.Cost()
	cost := &Record{
		Flops: c.Products + c.Norms + c.Sum, Clipping: c.Norms, Values: c.Values, Elements: c.Elements, Notes: m.Likelihood.Notes,
		Batch: batchOf(m),
	}
	cost.Step = cost.Batch * cost.Flops
	var err error
	if cost.Bytes, cost.Records, err = cpu.Memory(m.Likelihood); err != nil {
		return layers, nil
	}
	return layers, cost
}

// batchOf is the expected number of records of a step under the model file's own settings;
// 0 if it leaves them open.
func batchOf(m *models.Model) int {
	if rate, ok := m.Spec.Settings["sampling-rate"].V.(float64); ok {
		return int(math.Round(rate * float64(m.Spec.Data.Rows.N())))
	}
	size, _ := m.Spec.Settings["batch-size"].V.(int)
	return size
}

// sizes prints the sizes of a shape's dims, such as 16×14×14.
func sizes(s graph.Shape) string {
	var parts []string
	for _, d := range s {
		parts = append(parts, strconv.Itoa(d.Size))
	}
	return strings.Join(parts, "×")
}

// gradientOf describes the form of the gradient of a layer's weights, without biases if
// there are others.
func gradientOf(m *models.Model, layer string) []string {
	var factors, values []string
	for i := range m.Params {
		p := &m.Params[i]
		if name, ok := strings.CutPrefix(p.Name, layer+"."); !ok || strings.Contains(name, ".") {
			continue
		}
		for j := range m.Likelihood.Terms {
			t := &m.Likelihood.Terms[j]
			switch {
			case t.Param < p.Offset || t.Param >= p.Offset+p.Size:
			case t.Kind == graph.TermDense:
				values = append(values, t.Structure())
			default:
				factors = append(factors, t.Structure())
			}
		}
	}
	if factors != nil {
		return factors
	}
	return values
}

// PrintLayers prints a table of the layers and the cost of a record.
func PrintLayers(w io.Writer, layers []Layer, cost *Record) {
	if cost == nil {
		return
	}
	t := terminal.Columns{W: w, Right: []int{2, 3}}
	t.Line(terminal.Cells{"layer", "output", "weights", "FLOP per record", "gradient of a record"})
	weights, flops := 0, 0
	for _, l := range layers {
		t.Line(terminal.Cells{l.Name, l.Sizes, l.Weights, l.Flops, strings.Join(l.Gradient, "\n")})
		weights += l.Weights
		flops += l.Flops
	}
	t.Line(terminal.Cells{"all", "", weights, flops, ""})
	t.Print()
	fmt.Fprintf(w, "one record of a batch: %.3g MFLOP a step with its gradient, %.2g %% of them for its norm; %.1f KiB of memory in float64\n",
		float64(cost.Flops)/1e6, 100*float64(cost.Clipping)/float64(cost.Flops), float64(cost.Values)*8/1024)
	if cost.Batch > 0 {
		fmt.Fprintf(w, "a step of %d records: %.3g GFLOP; ", cost.Batch, float64(cost.Step)/1e9)
	}
	fmt.Fprintf(w, "a thread works on %d records at once, in %.3g MiB\n", cost.Records, float64(cost.Bytes)/(1<<20))
	if cost.Elements > 0 {
		fmt.Fprintf(w, "norms by elements write out at most %d values of a record\n", cost.Elements)
	}
	if len(cost.Notes) == 0 {
		fmt.Fprintln(w, "no gradient of a layer is written out for every record of a batch")
	}
	for _, note := range cost.Notes {
		fmt.Fprintln(w, note)
	}
}
