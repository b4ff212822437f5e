// Package chart draws the results of a fit as files, SVG or PNG, with
// gonum/plot: for papers and slides. The figures of the privacy report itself
// are those of package figure.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"d3p/internal/report/figure"
)

// Formats lists the file formats.
func Formats() []string { return []string{"svg", "png"} }

// Chart is one figure: panels in a grid.
type Chart struct {
	Stamp string // printed across the foot, when there is no guarantee

	panels        []*plot.Plot
	columns       int
	width, height vg.Length
}

// The colours of the report.
func blue() color.Color { return color.NRGBA{R: 0x0b, G: 0x5f, B: 0xa5, A: 0xff} }
func pale() color.Color { return color.NRGBA{R: 0x0b, G: 0x5f, B: 0xa5, A: 0x38} }
func red() color.Color  { return color.NRGBA{R: 0xb4, G: 0x23, B: 0x18, A: 0xff} }
func grey() color.Color { return color.NRGBA{R: 0x57, G: 0x60, B: 0x6a, A: 0xff} }

// Write writes the chart in a format of Formats.
func (c *Chart) Write(w io.Writer, format string) error {
	rows := (len(c.panels) + c.columns - 1) / c.columns
	canvas, err := draw.NewFormattedCanvas(c.width, c.height, format)
	if err != nil {
		return fmt.Errorf("format %s: %w", format, err)
	}
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	tiles := draw.Tiles{Rows: rows, Cols: c.columns, PadX: vg.Points(12), PadY: vg.Points(12),
		PadTop: vg.Points(6), PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(12)}
	for i, p := range c.panels {
		p.Draw(tiles.At(page, i%c.columns, i/c.columns))
	}
	if c.Stamp != "" {
		style := draw.TextStyle{
			Color: red(), Font: font.From(plot.DefaultFont, 14), Handler: plot.DefaultTextHandler,
			XAlign: draw.XCenter, YAlign: draw.YBottom,
		}
		page.FillText(style, vg.Point{X: page.Center().X, Y: page.Min.Y + 2}, c.Stamp)
	}
	_, err = canvas.WriteTo(w)
	return err
}

// line is a curve through x, y.
func line(x, y []float64, c color.Color, width vg.Length) (*plotter.Line, error) {
	points := make(plotter.XYs, len(x))
	for i := range x {
		points[i].X, points[i].Y = x[i], y[i]
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	l.Color, l.Width = c, width
	return l, nil
}

// labels are ticks with names at 0, 1, 2, ...
type labels []string

// Ticks implements plot.Ticker.
func (l labels) Ticks(_, _ float64) (ticks []plot.Tick) {
	for i, name := range l {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}

// round are ticks at about n round numbers.
type round int

// Ticks implements plot.Ticker.
func (n round) Ticks(lo, hi float64) (ticks []plot.Tick) {
	for _, v := range figure.RoundTicks(lo, hi, int(n)) {
		ticks = append(ticks, plot.Tick{Value: v, Label: figure.Plain(v)})
	}
	return ticks
}

// finite tells whether every number can be drawn.
func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
