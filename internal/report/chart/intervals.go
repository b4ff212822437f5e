package chart

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"d3p/internal/report"
)

// Intervals shows the mean and the 50 % and 90 % intervals of every row, the
// first one on top.
func Intervals(title string, rows []report.Summary) (*Chart, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "50 % and 90 % of the posterior"
	var names labels
	means := plotter.XYs{}
	for i, r := range slices.Backward(rows) {
		at := float64(len(rows) - 1 - i)
		names = append(names, r.Variable)
		if !finite(r.Mean, r.Q5, r.Q95) {
			return nil, fmt.Errorf("%s is not finite", r.Variable)
		}
		for _, part := range []struct{ lo, hi, width float64 }{{r.Q5, r.Q95, 1.2}, {r.Q25, r.Q75, 4}} {
			l, err := line([]float64{part.lo, part.hi}, []float64{at, at}, blue(), vg.Points(part.width))
			if err != nil {
				return nil, err
			}
			p.Add(l)
		}
		means = append(means, plotter.XY{X: r.Mean, Y: at})
	}
	dots, err := plotter.NewScatter(means)
	if err != nil {
		return nil, err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: blue(), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
	none, err := line([]float64{0, 0}, []float64{-0.7, float64(len(rows)) - 0.3}, grey(), vg.Points(0.6))
	if err != nil {
		return nil, err
	}
	p.Add(none, dots)
	p.X.Tick.Marker, p.Y.Tick.Marker = round(10), names
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3
	return &Chart{panels: []*plot.Plot{p}, columns: 1, width: 16 * vg.Centimeter, height: vg.Length(len(rows))*vg.Points(16) + vg.Points(80)}, nil
}
