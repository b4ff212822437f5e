package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// layerResult is what `d3p check` says of a layer.
type layerResult struct {
	Name    string `json:"name"`
	Output  string `json:"output"`
	Weights int    `json:"weights"`
	Flops   int    `json:"flops"` // of the forward pass of one record
}

// recordCost is what one record of a batch costs.
type recordCost struct {
	Flops  int      `json:"flops_per_step"` // forward pass, backward pass and sum of clipped gradients
	Values int      `json:"values"`         // numbers kept while a batch is worked on
	Notes  []string `json:"written_out,omitempty"`
}

// layersOf describes the networks of a model; nil when it has none.
func layersOf(m *models.Model) ([]layerResult, *recordCost) {
	if len(m.Layers) == 0 {
		return nil, nil
	}
	var layers []layerResult
	cost := &recordCost{Notes: m.Likelihood.Notes}
	for _, l := range m.Layers {
		layers = append(layers, layerResult{l.Name, l.Out.String(), l.Weights, l.Flops})
		cost.Flops += 3 * l.Flops
	}
	for _, b := range m.Likelihood.Buffers {
		if b.Kind == graph.KRecord || b.Kind == graph.KAuxRecord {
			cost.Values += b.Size
		}
	}
	return layers, cost
}

// printLayers prints a table of the layers and what a record costs.
func printLayers(w io.Writer, layers []layerResult, cost *recordCost) {
	if cost == nil {
		return
	}
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"layer", "output", "weights", "FLOP per record"})
	weights, flops := 0, 0
	for _, l := range layers {
		t.AppendRow(table.Row{l.Name, l.Output, l.Weights, l.Flops})
		weights += l.Weights
		flops += l.Flops
	}
	t.AppendFooter(table.Row{"all", "", weights, flops})
	t.Render()
	fmt.Fprintf(w, "one record of a batch: %.3g MFLOP a step with its gradient, %.1f KiB of memory in float64\n", float64(cost.Flops)/1e6, float64(cost.Values)*8/1024)
	if len(cost.Notes) == 0 {
		fmt.Fprintln(w, "no gradient of a layer is written out per record")
	}
	for _, note := range cost.Notes {
		fmt.Fprintln(w, note)
	}
}
