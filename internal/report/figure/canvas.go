// Package figure draws figures: inside the page of the privacy report, as SVG
// whose shapes have the classes of a style sheet, and as files, SVG or PNG.
// Coordinates are in pixels of the view box, which is narrow enough for the page
// of a telephone.
package figure

import "math"

// Figure is a finished drawing.
type Figure struct {
	title         string
	width, height float64
	shapes        []shape
}

// shape is one element of a drawing; which fields it has depends on its kind.
type shape struct {
	kind   kind
	class  string
	points []Point // of the view box; the centre of a dot, the place of words
	radius float64
	words  string
	anchor string // start, middle or end
	upward bool   // words from bottom to top
}

type kind int

const (
	open   kind = iota // a line through points
	closed             // the area within points
	dot
	words
)

// Point is one point of a curve.
type Point struct{ X, Y float64 }

// canvas is a figure in progress: a view box, and in it a frame with the axes.
type canvas struct {
	Figure
	left, right, top, bottom float64 // edges of the frame
	x, y                     axis
}

// newCanvas begins a figure with margins for the labels of both axes.
func newCanvas(width, height float64, title string, x, y axis) *canvas {
	return &canvas{Figure: Figure{title: title, width: width, height: height},
		left: 48, right: width - 18, top: 10, bottom: height - 38, x: x, y: y}
}

// px and py are the places of values in the view box.
func (c *canvas) px(v float64) float64 { return c.left + c.x.unit(v)*(c.right-c.left) }
func (c *canvas) py(v float64) float64 { return c.bottom - c.y.unit(v)*(c.bottom-c.top) }

// axes draws the frame, light lines at the ticks and the names of the axes.
func (c *canvas) axes() {
	for _, t := range c.x.ticks {
		at := c.px(t)
		c.segment("grid", at, c.top, at, c.bottom)
		c.text("tick", "middle", at, c.bottom+15, c.x.label(t))
	}
	for _, t := range c.y.ticks {
		at := c.py(t)
		c.segment("grid", c.left, at, c.right, at)
		c.text("tick", "end", c.left-6, at+4, c.y.label(t))
	}
	c.segment("axis", c.left, c.bottom, c.right, c.bottom)
	c.segment("axis", c.left, c.top, c.left, c.bottom)
	if c.x.name != "" {
		c.text("name", "middle", (c.left+c.right)/2, c.height-6, c.x.name)
	}
	if c.y.name != "" {
		c.shapes = append(c.shapes, shape{kind: words, class: "name", anchor: "middle", words: c.y.name, upward: true,
			points: []Point{{11, (c.top + c.bottom) / 2}}})
	}
}

// place maps points in the units of the axes to the view box.
func (c *canvas) place(points []Point) []Point {
	placed := make([]Point, len(points))
	for i, p := range points {
		placed[i] = Point{c.px(p.X), c.py(p.Y)}
	}
	return placed
}

// curve joins points, given in the units of the axes.
func (c *canvas) curve(class string, points []Point) {
	c.shapes = append(c.shapes, shape{kind: open, class: class, points: c.place(points)})
}

// area fills the region between points and the foot of the frame.
func (c *canvas) area(class string, points []Point) {
	if len(points) == 0 {
		return
	}
	edge := c.place(points)
	edge = append(edge, Point{edge[len(edge)-1].X, c.bottom}, Point{edge[0].X, c.bottom})
	c.polygon(class, edge...)
}

// polygon fills an area of the view box.
func (c *canvas) polygon(class string, corners ...Point) {
	c.shapes = append(c.shapes, shape{kind: closed, class: class, points: corners})
}

// segment joins two places of the view box.
func (c *canvas) segment(class string, x1, y1, x2, y2 float64) {
	c.shapes = append(c.shapes, shape{kind: open, class: class, points: []Point{{x1, y1}, {x2, y2}}})
}

// box fills a rectangle of the view box.
func (c *canvas) box(class string, x, y, width, height float64) {
	right, bottom := x+math.Max(0, width), y+height
	c.polygon(class, Point{x, y}, Point{right, y}, Point{right, bottom}, Point{x, bottom})
}

// dot marks a place of the view box.
func (c *canvas) dot(class string, x, y, radius float64) {
	c.shapes = append(c.shapes, shape{kind: dot, class: class, points: []Point{{x, y}}, radius: radius})
}

// text writes words at a place of the view box; anchor is start, middle or end.
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	c.shapes = append(c.shapes, shape{kind: words, class: class, anchor: anchor, points: []Point{{x, y}}, words: s})
}

// key writes the names of curves, one per line, each after a piece of its line.
func (c *canvas) key(x, y float64, entries ...[2]string) {
	for i, e := range entries {
		at := y + 16*float64(i)
		c.segment(e[0], x, at-4, x+22, at-4)
		c.text("tick", "start", x+28, at, e[1])
	}
}
