package figure

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Interval describes the posterior of one parameter.
type Interval struct {
	Name               string
	Mean               float64
	Q5, Q25, Q75, Q95  float64
	NoiseShare         float64 // of the variance, from 0 to 1
	NoiseShareModelled bool
}

// Forest shows intervals of 90 % (thin) and 50 % (thick), the mean, and on the right the
// share of the variance that is privacy noise.
func Forest(rows []Interval, width float64) Figure {
	const perRow = 22
	low, high, longest := 0.0, 0.0, 8
	for _, r := range rows {
		low, high = math.Min(low, r.Q5), math.Max(high, r.Q95)
		longest = max(longest, utf8.RuneCountInString(shorten(r.Name)))
	}
	pad := 0.03 * (high - low)
	c := newCanvas(width, perRow*float64(len(rows))+62, "Posterior intervals", linear("90 % (thin) and 50 % (thick) of the posterior", low-pad, high+pad, 6), axis{hi: 1})
	c.left, c.right, c.top = 7*float64(longest)+10, c.width-62, 24
	c.axes()
	c.text("tick", "end", c.width-2, 14, "noise")
	zero := c.px(0)
	c.segment("guess", zero, c.top, zero, c.bottom)
	for i, r := range rows {
		y := c.top + perRow*(float64(i)+0.5)
		c.text("label", "end", c.left-6, y+4, shorten(r.Name))
		c.segment("thin", c.px(r.Q5), y, c.px(r.Q95), y)
		c.segment("thick", c.px(r.Q25), y, c.px(r.Q75), y)
		c.dot("mean", c.px(r.Mean), y, 2.7)
		if r.NoiseShareModelled {
			const full = 30.0
			c.box("room", c.width-58, y-5, full, 10)
			c.box("noise", c.width-58, y-5, full*r.NoiseShare, 10)
			c.text("tick", "end", c.width-2, y+4, fmt.Sprintf("%.0f%%", 100*r.NoiseShare))
		}
	}
	return c.Figure
}

// shorten keeps a name within the label column.
func shorten(name string) string {
	const most = 25
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// Trace shows the iterates of one parameter.
func Trace(name string, points []Point) Figure {
	low, high, steps := math.Inf(1), math.Inf(-1), 1.0
	for _, p := range points {
		low, high, steps = math.Min(low, p.Y), math.Max(high, p.Y), math.Max(steps, p.X)
	}
	pad := 0.05*(high-low) + 1e-9
	c := newCanvas(240, 150, "Iterates of "+name, linear("steps", 0, steps, 3), linear("", low-pad, high+pad, 4))
	c.left, c.top = 40, 22
	c.axes()
	c.text("word", "start", 4, 13, shorten(name))
	c.curve("run", points)
	return c.Figure
}

// Overlay shows the densities of one parameter before and after the fit. The axis spans the
// posterior, and up to five times its width of the prior.
func Overlay(name string, prior, posterior []Point, from, to float64) Figure {
	most := 0.0
	for _, p := range posterior {
		most = math.Max(most, p.Y)
	}
	c := newCanvas(240, 140, "Prior and posterior of "+name, linear("", from, to, 4), axis{hi: most * 1.05})
	c.left, c.right, c.top, c.bottom = 8, 232, 22, 118
	c.axes()
	c.text("word", "start", 4, 13, shorten(name))
	c.area("before", prior)
	c.area("after", posterior)
	c.curve("guess", prior)
	c.curve("run", posterior)
	return c.Figure
}
