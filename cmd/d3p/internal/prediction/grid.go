package prediction

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/released"
	"d3p/internal/export"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/spec"
	"d3p/internal/predict"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// gridColumns is the number of images in a row.
const gridColumns = 10

// ImagesOf is the first array of a model that is an image, with its layout.
func ImagesOf(m *spec.Spec) (*data.Tensor, export.Layout, error) {
	err := fmt.Errorf("the model has no images: `tensors:` declares none")
	for _, t := range m.Data.Tensors {
		var shape []int
		for _, n := range t.Shape {
			shape = append(shape, n.V)
		}
		layout, bad := export.LayoutOf(shape, t.Lower.V, t.Upper.V)
		if bad == nil {
			return t, layout, nil
		}
		err = fmt.Errorf("tensor %s: %w", t.Name.V, bad)
	}
	return nil, export.Layout{}, status.Usagef("--grid: %w", err)
}

// Grid holds images and their reconstructions.
type Grid struct {
	p           *Prediction
	layout      export.Layout
	observation int              // of the image
	pixels      []encoding.Field // of the columns that the image reads
	images      int
	originals   [][]float64
	decoded     [][]float64
}

// NewGrid prepares a grid of the first images.
func (p *Prediction) NewGrid(images int) (*Grid, error) {
	m := p.Run.Model
	tensor, layout, err := ImagesOf(m.Spec)
	if err != nil {
		return nil, err
	}
	g := &Grid{p: p, layout: layout, images: min(images, p.Rows.N), observation: -1}
	for i := range m.Observed {
		if m.Observed[i].Name == tensor.Name.V {
			g.observation = i
		}
	}
	for _, c := range tensor.Columns {
		for _, f := range m.Encoding.Fields {
			if f.Column == c.HeaderName() && (f.Kind == encoding.Numeric || f.Kind == encoding.Quantile) {
				g.pixels = append(g.pixels, f)
				break
			}
		}
	}
	if m.Reconstruct == nil || g.observation < 0 || len(g.pixels) != layout.Size() {
		return nil, status.Usagef("--grid: the model does not reconstruct images: it has no local latents, or does not observe tensor %s", tensor.Name.V)
	}
	return g, nil
}

// Add takes row i and its prediction.
func (g *Grid) Add(i int, predicted *predict.Prediction) {
	if i >= g.images {
		return
	}
	var original, decoded []float64 // leaves blanks for a row that lacks a value
	if predicted.OK {
		row := g.p.Rows.Data[i*g.p.Rows.Stride:]
		for k := range g.pixels {
			original = append(original, g.pixels[k].Decode(row))
		}
		decoded = slices.Clone(predicted.Arrays[g.observation])
	}
	g.originals, g.decoded = append(g.originals, original), append(g.decoded, decoded)
}

// Write draws rows of images, each with the row of their reconstructions below it.
func (g *Grid) Write(path string, r *released.Release) error {
	columns := min(gridColumns, g.images)
	var images [][]float64
	for first := 0; first < g.images; first += columns {
		next := min(first+columns, g.images)
		for _, list := range [][][]float64{g.originals, g.decoded} {
			images = append(images, list[first:next]...)
			images = append(images, make([][]float64, columns-(next-first))...)
		}
	}
	return WriteGrid(path, g.layout, images, r)
}

// WriteGrid writes images as a PNG with the run's claim, whole or not at all.
func WriteGrid(path string, layout export.Layout, images [][]float64, r *released.Release) error {
	if filepath.Ext(path) != ".png" {
		return status.Usagef("--grid: %s: the name must end in .png", path)
	}
	claim := r.Privacy.Statements.OneLine
	if r.Params.Privacy == settings.NotPrivate {
		claim = settings.NotPrivate
	}
	var b bytes.Buffer
	if err := export.WriteImages(&b, layout, images, min(gridColumns, len(images)), claim); err != nil {
		return status.With(status.Numeric, err)
	}
	if err := outfile.Write(path, b.Bytes()); err != nil {
		return status.With(status.Numeric, fmt.Errorf("--grid: %w", err))
	}
	return nil
}
