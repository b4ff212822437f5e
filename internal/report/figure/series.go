package figure

import (
	"math"
	"strconv"
)

// Measured is a mean with its standard error at a place.
type Measured struct{ X, Mean, SE float64 }

// Series is a named curve of measurements, by X.
type Series struct {
	Name   string
	Points []Measured
}

// seriesLines are the classes of curves in the order of the key.
func seriesLines() []string {
	return []string{"run", "claim", "gauss", "fourth", "guess", "sixth", "seventh", "eighth", "ninth", "tenth"}
}

// Compared shows curves with one standard error to either side of each point, under a
// title and a key. log makes the axis of X logarithmic. There are at most ten curves.
func Compared(title, x, y string, log bool, series []Series) Figure {
	left, right, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			left, right = math.Min(left, p.X), math.Max(right, p.X)
			low, high = math.Min(low, p.Mean-p.SE), math.Max(high, p.Mean+p.SE)
		}
	}
	pad := 0.05*(high-low) + 1e-9
	horizontal := linear(x, left, right, 5)
	horizontal.lo, horizontal.hi = left, right
	if log {
		horizontal = logarithmic(x, left, right)
	}
	const line = 16
	c := newCanvas(360, 280+line*float64(len(series)), title, horizontal, linear(y, low-pad, high+pad, 5))
	c.top = 26 + line*float64(len(series))
	c.axes()
	c.text("word", "start", 4, 13, title)
	for i, s := range series {
		class := seriesLines()[i]
		curve := make([]Point, len(s.Points))
		for k, p := range s.Points {
			curve[k] = Point{p.X, p.Mean}
			c.segment(barOf+class, c.px(p.X), c.py(p.Mean-p.SE), c.px(p.X), c.py(p.Mean+p.SE))
		}
		c.curve(class, curve)
		for _, p := range curve {
			c.dot(meanOf+class, c.px(p.X), c.py(p.Y), 3)
		}
		c.key(c.left, 30+line*float64(i), [2]string{class, s.Name})
	}
	return c.Figure
}

// logarithmic is an axis from lo to hi, both above 0, with ticks at 1, 2 and 5 times
// powers of 10, or at powers of 10 alone where there are many.
func logarithmic(name string, lo, hi float64) axis {
	a := axis{name: name, lo: lo, hi: hi, log: true, label: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }}
	multiples := []float64{1, 2, 5}
	if hi/lo > 1000 {
		multiples = multiples[:1]
	}
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, m := range multiples {
			if v := m * math.Pow(10, e); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				a.ticks = append(a.ticks, v)
			}
		}
	}
	return a
}
