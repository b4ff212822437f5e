package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// layerResult is what `d3p check` says of a layer.
type layerResult struct {
	Name     string   `json:"name"`
	Output   string   `json:"output"`
	Sizes    string   `json:"sizes"` // of the output's dims
	Weights  int      `json:"weights"`
	Flops    int      `json:"flops"`              // of the forward pass of one record
	Gradient []string `json:"gradient,omitempty"` // of one record, how it is kept
}

// recordCost is what one record of a batch costs in a step.
type recordCost struct {
	Flops    int      `json:"flops_per_step"` // forward and backward pass, norms, and sum of clipped gradients
	Clipping int      `json:"flops_of_norms"`
	Values   int      `json:"values"`             // numbers kept while a batch is worked on
	Elements int      `json:"elements,omitempty"` // of the largest gradient written out for a norm
	Notes    []string `json:"written_out,omitempty"`

	Records int `json:"records_at_once"`      // that a thread works on
	Bytes   int `json:"bytes_of_thread"`      // that it takes for them
	Batch   int `json:"batch,omitempty"`      // expected records of a step, where the model file says so
	Step    int `json:"flops_step,omitempty"` // of such a step
}

// layersOf describes the networks of a model; nil when it has none.
func layersOf(m *models.Model) ([]layerResult, *recordCost) {
	if len(m.Layers) == 0 {
		return nil, nil
	}
	var layers []layerResult
	for _, l := range m.Layers {
		layers = append(layers, layerResult{l.Name, l.Out.String(), sizes(l.Out), l.Weights, l.Flops, gradientOf(m, l.Name)})
	}
	c := m.Likelihood.Cost()
	cost := &recordCost{
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

// batchOf is the expected number of records of a step by the model file's own
// settings; 0 when it leaves them open.
func batchOf(m *models.Model) int {
	if rate, ok := m.Spec.Settings["sampling-rate"].V.(float64); ok {
		return int(math.Round(rate * float64(m.Spec.Data.Rows.N())))
	}
	size, _ := m.Spec.Settings["batch-size"].V.(int)
	return size
}

// sizes are those of a shape's dims, such as 16×14×14.
func sizes(s graph.Shape) string {
	var parts []string
	for _, d := range s {
		parts = append(parts, strconv.Itoa(d.Size))
	}
	return strings.Join(parts, "×")
}

// gradientOf says how the gradient of a layer's weights is kept, biases left
// out where there are others.
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

// printLayers prints a table of the layers and what a record costs.
func printLayers(w io.Writer, layers []layerResult, cost *recordCost) {
	if cost == nil {
		return
	}
	t := columns{w: w, right: []int{2, 3}}
	t.line(cells{"layer", "output", "weights", "FLOP per record", "gradient of a record"})
	weights, flops := 0, 0
	for _, l := range layers {
		t.line(cells{l.Name, l.Sizes, l.Weights, l.Flops, strings.Join(l.Gradient, "\n")})
		weights += l.Weights
		flops += l.Flops
	}
	t.line(cells{"all", "", weights, flops, ""})
	t.print()
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
