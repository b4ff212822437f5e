package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"d3p/internal/privacy/accountant"
)

// plot draws in a box of width x height with room for labels at the left and
// the bottom. Coordinates x and y run from 0 to 1, y upwards.
type plot struct {
	b             strings.Builder
	width, height float64
	left, bottom  float64
}

func newPlot(width, height, left float64, title string) *plot {
	p := &plot{width: width, height: height, left: left, bottom: 40}
	fmt.Fprintf(&p.b, `<svg viewBox="0 0 %g %g" role="img" aria-label=%q xmlns="http://www.w3.org/2000/svg">`, width, height, title)
	fmt.Fprintf(&p.b, `<title>%s</title>`, template.HTMLEscapeString(title))
	return p
}

func (p *plot) at(x, y float64) (px, py float64) {
	const margin = 12
	return p.left + x*(p.width-p.left-margin), margin + (1-y)*(p.height-p.bottom-margin)
}

// line joins points given as x, y pairs.
func (p *plot) line(class string, xy ...float64) {
	fmt.Fprintf(&p.b, `<polyline class="%s" points="`, class)
	for i := 0; i+1 < len(xy); i += 2 {
		x, y := p.at(xy[i], xy[i+1])
		fmt.Fprintf(&p.b, "%.1f,%.1f ", x, y)
	}
	p.b.WriteString(`"/>`)
}

func (p *plot) dot(class string, x, y float64) {
	px, py := p.at(x, y)
	fmt.Fprintf(&p.b, `<circle class="%s" cx="%.1f" cy="%.1f" r="4"/>`, class, px, py)
}

// text writes words at a place moved by (dx, dy) pixels.
func (p *plot) text(anchor string, x, y, dx, dy float64, words string) {
	px, py := p.at(x, y)
	fmt.Fprintf(&p.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, px+dx, py+dy, anchor, template.HTMLEscapeString(words))
}

// frame draws the axes and their names.
func (p *plot) frame(xName, yName string) {
	p.line("axis", 0, 1, 0, 0, 1, 0)
	p.text("middle", 0.5, 0, 0, 34, xName)
	if yName != "" {
		px, py := p.at(0, 0.5)
		fmt.Fprintf(&p.b, `<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">%s</text>`, px-44, py, template.HTMLEscapeString(yName))
	}
}

func (p *plot) svg() template.HTML {
	return template.HTML(p.b.String() + `</svg>`)
}

// tradeoff shows what an attacker can do: true against false positives, with
// the diagonal of pure guessing, the claim alone, and the whole curve.
func tradeoff(claim Point, curve *accountant.Curve) template.HTML {
	p := newPlot(420, 340, 56, "True positive rate against false positive rate")
	p.frame("false positive rate", "true positive rate")
	p.line("guess", 0, 0, 1, 1)
	var one, all []float64
	for i := range 201 {
		x := float64(i) / 200
		one = append(one, x, truePositives(claim, x))
		all = append(all, x, curve.TPR(x))
	}
	p.line("claim", one...)
	p.line("run", all...)
	for _, x := range []float64{0.001, 0.01, 0.1} {
		p.dot("mark", x, curve.TPR(x))
	}
	for _, t := range []float64{0, 0.5, 1} {
		p.text("middle", t, 0, 0, 16, fmt.Sprint(t))
		p.text("end", 0, t, -6, 4, fmt.Sprint(t))
	}
	return p.svg()
}

// curveFigure shows epsilon against delta on a logarithmic axis, the claimed
// point, and delta = 1/N.
func curveFigure(claim Point, curve []Point, n int) template.HTML {
	p := newPlot(420, 340, 56, "Epsilon against delta")
	p.frame("delta", "epsilon")
	lowest, highest, most := -9.0, -2.0, claim.Epsilon
	for _, c := range curve {
		most = max(most, c.Epsilon)
	}
	most *= 1.05
	x := func(delta float64) float64 {
		return min(1, max(0, (math.Log10(delta)-lowest)/(highest-lowest)))
	}
	var line []float64
	for _, c := range curve {
		line = append(line, x(c.Delta), c.Epsilon/most)
	}
	p.line("run", line...)
	p.line("guess", x(1/float64(n)), 0, x(1/float64(n)), 1)
	p.text("middle", x(1/float64(n)), 1, 0, 0, "1/N")
	p.dot("mark", x(claim.Delta), claim.Epsilon/most)
	for _, exponent := range []int{-9, -7, -5, -3} {
		p.text("middle", x(math.Pow10(exponent)), 0, 0, 16, fmt.Sprintf("1e%d", exponent))
	}
	for _, t := range []float64{0, 0.5, 1} {
		p.text("end", 0, t, -6, 4, fmt.Sprintf("%.2g", t*most))
	}
	return p.svg()
}

// forest shows the 5 % to 95 % interval and the mean of each row.
func forest(rows []Summary) template.HTML {
	const perRow = 18
	p := newPlot(640, 60+perRow*float64(len(rows)), 200, "Posterior intervals, 5 % to 95 %")
	low, high := 0.0, 0.0
	for _, r := range rows {
		low, high = min(low, r.Q5), max(high, r.Q95)
	}
	if high == low {
		high = low + 1
	}
	x := func(v float64) float64 { return (v - low) / (high - low) }
	p.frame("5 % to 95 %", "")
	p.line("guess", x(0), 0, x(0), 1)
	for i, r := range rows {
		y := 1 - (float64(i)+0.5)/float64(len(rows))
		p.line("run", x(r.Q5), y, x(r.Q95), y)
		p.dot("mark", x(r.Mean), y)
		p.text("end", 0, y, -8, 4, r.Variable)
	}
	p.text("middle", 0, 0, 0, 16, fmt.Sprintf("%.3g", low))
	p.text("middle", 1, 0, 0, 16, fmt.Sprintf("%.3g", high))
	if x(0) > 0.06 && x(0) < 0.94 {
		p.text("middle", x(0), 0, 0, 16, "0")
	}
	return p.svg()
}
