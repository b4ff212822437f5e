package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"d3p/internal/report"
)

// grid is a chart of small panels, three in a row.
func grid(panels []*plot.Plot) *Chart {
	columns := max(1, min(3, len(panels)))
	rows := max(1, (len(panels)+2)/3)
	return &Chart{panels: panels, columns: columns, width: vg.Length(columns) * 7 * vg.Centimeter, height: vg.Length(rows) * 5.5 * vg.Centimeter}
}

// Traces shows the iterates of each line over the steps, on the unconstrained
// scale.
func Traces(lines []report.Line) (*Chart, error) {
	var panels []*plot.Plot
	for _, l := range lines {
		p := plot.New()
		p.Title.Text, p.X.Label.Text = l.Name, "step"
		p.X.Tick.Marker, p.Y.Tick.Marker = round(4), round(5)
		curve, err := line(l.Steps, l.Values, blue(), vg.Points(1))
		if err != nil {
			return nil, err
		}
		p.Add(curve)
		panels = append(panels, p)
	}
	return grid(panels), nil
}

// PriorAndPosterior shows the density of each parameter before (grey) and after
// the fit (blue), over the range of the latter.
func PriorAndPosterior(overlays []report.Overlay) (*Chart, error) {
	var panels []*plot.Plot
	for _, o := range overlays {
		p := plot.New()
		p.Title.Text = o.Name
		p.HideY()
		p.X.Tick.Marker = round(5)
		for i, points := range [][]report.DensityPoint{o.Prior, o.Posterior} {
			x, y := make([]float64, len(points)), make([]float64, len(points))
			for k, point := range points {
				x[k], y[k] = point.X, point.Y
			}
			colour, width := grey(), vg.Points(0.8)
			if i == 1 {
				colour, width = blue(), vg.Points(1.5)
			}
			curve, err := line(x, y, colour, width)
			if err != nil {
				return nil, err
			}
			if i == 1 {
				shade := &plotter.Polygon{XYs: []plotter.XYs{curve.XYs}, Color: pale()}
				p.Add(shade)
			}
			p.Add(curve)
		}
		p.X.Min, p.X.Max, p.Y.Min = o.From, o.To, 0
		p.Y.Max = 1.05 * highest(o.Posterior)
		panels = append(panels, p)
	}
	return grid(panels), nil
}

// highest is the largest density; a prior may rise above the panel.
func highest(points []report.DensityPoint) float64 {
	most := 1e-300
	for _, p := range points {
		most = max(most, p.Y)
	}
	return most
}
