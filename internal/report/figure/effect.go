package figure

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Expected is the expected response at a value of a predictor: a number X, or a level of a
// name.
type Expected struct {
	Name               string
	X                  float64
	Mean, Lower, Upper float64
}

// spanned are the lowest and the highest end of the intervals.
func spanned(points []Expected) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = math.Min(low, p.Lower), math.Max(high, p.Upper)
	}
	pad := 0.05*(high-low) + 1e-9
	return low - pad, high + pad
}

// Curve shows the expected response along a number, with its interval as a band.
func Curve(predictor, response string, points []Expected, prob float64) Figure {
	low, high := spanned(points)
	x := linear(predictor, points[0].X, points[len(points)-1].X, 5)
	x.lo, x.hi = points[0].X, points[len(points)-1].X
	c := newCanvas(360, 240, response+" by "+predictor, x, linear("", low, high, 5))
	c.top = 22
	c.axes()
	c.text("word", "start", 4, 13, fmt.Sprintf("%s, average and %.4g %%", shorten(response), 100*prob))
	var band, line []Point
	for _, p := range points {
		band, line = append(band, Point{p.X, p.Upper}), append(line, Point{p.X, p.Mean})
	}
	for i := len(points) - 1; i >= 0; i-- {
		band = append(band, Point{points[i].X, points[i].Lower})
	}
	c.polygon("after", c.place(band)...)
	c.curve("run", line)
	return c.Figure
}

// Levels shows the expected response at each level of a predictor.
func Levels(predictor, response string, points []Expected, prob float64) Figure {
	const perRow = 22
	low, high := spanned(points)
	longest := 8
	for _, p := range points {
		longest = max(longest, utf8.RuneCountInString(shorten(p.Name)))
	}
	c := newCanvas(360, perRow*float64(len(points))+62, response+" by "+predictor, linear(fmt.Sprintf("%s, average and %.4g %%", shorten(response), 100*prob), low, high, 5), axis{hi: 1})
	c.left, c.top = 7*float64(longest)+10, 24
	c.axes()
	c.text("word", "start", 4, 13, shorten(predictor))
	for i, p := range points {
		y := c.top + perRow*(float64(i)+0.5)
		c.text("label", "end", c.left-6, y+4, shorten(p.Name))
		c.segment("thin", c.px(p.Lower), y, c.px(p.Upper), y)
		c.dot("mean", c.px(p.Mean), y, 2.7)
	}
	return c.Figure
}
