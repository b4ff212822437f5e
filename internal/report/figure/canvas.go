// Package figure draws the figures of the privacy report as SVG: text that
// stands inside an HTML page, without script, and follows the page's style
// sheet by the classes of its lines. Coordinates are in pixels of the view box,
// which is narrow enough for the page of a telephone.
package figure

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// canvas is a figure in progress: a view box, and in it a frame with the axes.
type canvas struct {
	b                        strings.Builder
	width, height            float64
	left, right, top, bottom float64 // edges of the frame
	x, y                     axis
}

// newCanvas begins a figure with margins for the labels of both axes.
func newCanvas(width, height float64, title string, x, y axis) *canvas {
	c := &canvas{width: width, height: height, left: 48, right: width - 18, top: 10, bottom: height - 38, x: x, y: y}
	fmt.Fprintf(&c.b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%s</title>`,
		width, height, html.EscapeString(title), html.EscapeString(title))
	return c
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
		fmt.Fprintf(&c.b, `<text class="name" transform="translate(11 %.1f) rotate(-90)" text-anchor="middle">%s</text>`,
			(c.top+c.bottom)/2, html.EscapeString(c.y.name))
	}
}

// curve joins points (x, y), given in the units of the axes.
func (c *canvas) curve(class string, points []Point) {
	fmt.Fprintf(&c.b, `<polyline class="%s" points="`, class)
	for i, p := range points {
		if i > 0 {
			c.b.WriteByte(' ')
		}
		fmt.Fprintf(&c.b, "%.1f,%.1f", c.px(p.X), c.py(p.Y))
	}
	c.b.WriteString(`"/>`)
}

// area fills what lies between points and the foot of the frame.
func (c *canvas) area(class string, points []Point) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&c.b, `<polygon class="%s" points="%.1f,%.1f`, class, c.px(points[0].X), c.bottom)
	for _, p := range points {
		fmt.Fprintf(&c.b, " %.1f,%.1f", c.px(p.X), c.py(p.Y))
	}
	fmt.Fprintf(&c.b, ` %.1f,%.1f"/>`, c.px(points[len(points)-1].X), c.bottom)
}

// segment joins two places of the view box.
func (c *canvas) segment(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&c.b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// box fills a rectangle of the view box.
func (c *canvas) box(class string, x, y, width, height float64) {
	fmt.Fprintf(&c.b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, math.Max(0, width), height)
}

// dot marks a place of the view box.
func (c *canvas) dot(class string, x, y, radius float64) {
	fmt.Fprintf(&c.b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%g"/>`, class, x, y, radius)
}

// text writes words at a place of the view box; anchor is start, middle or end.
func (c *canvas) text(class, anchor string, x, y float64, words string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(words))
}

// key writes the names of curves, one per line, each after a piece of its line.
func (c *canvas) key(x, y float64, entries ...[2]string) {
	for i, e := range entries {
		at := y + 16*float64(i)
		c.segment(e[0], x, at-4, x+22, at-4)
		c.text("tick", "start", x+28, at, e[1])
	}
}

// html ends the figure.
func (c *canvas) html() template.HTML { return template.HTML(c.b.String() + `</svg>`) }

// Point is one point of a curve.
type Point struct{ X, Y float64 }
