package main

import (
	"bytes"
	"fmt"
	"math"

	"d3p/internal/privacy/accountant"
)

// plotCurve draws, side by side, what an attacker can do (true- against
// false-positive rate) and epsilon against delta, into an SVG file.
func plotCurve(path string, c *accountant.Curve, delta float64) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", 2*panelWidth, panelHeight)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	drawRates(&b, c)
	drawEpsilon(&b, c, delta)
	b.WriteString("</svg>\n")
	return writeOut(path, b.Bytes())
}

// Sizes of one of the two panels, in SVG units.
const (
	panelWidth  = 440
	panelHeight = 400
	panelMargin = 56
)

// panel maps its coordinates, both from 0 to 1, into the drawing.
type panel struct {
	b    *bytes.Buffer
	left float64
}

// newPanel draws the frame, the names and the ticks; tickX and tickY say what
// stands at a tenth of either axis, "" for nothing.
func newPanel(b *bytes.Buffer, left float64, title, nameX, nameY string, tickX, tickY func(tenth int) string) panel {
	p := panel{b, left}
	p.line("#444", "", [][2]float64{{0, 1}, {0, 0}, {1, 0}})
	p.text(0.5, 1, 0, -12, "middle", title)
	p.text(0.5, 0, 0, 40, "middle", nameX)
	x, y := p.at(0, 0.5)
	fmt.Fprintf(b, `<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", x-42, y, nameY)
	for i := range 11 {
		t := float64(i) / 10
		if s := tickX(i); s != "" {
			p.line("#ddd", "", [][2]float64{{t, 0}, {t, 1}})
			p.text(t, 0, 0, 18, "middle", s)
		}
		if s := tickY(i); s != "" {
			p.line("#ddd", "", [][2]float64{{0, t}, {1, t}})
			p.text(0, t, -6, 4, "end", s)
		}
	}
	return p
}

func (p panel) at(x, y float64) (px, py float64) {
	return p.left + panelMargin + x*(panelWidth-2*panelMargin), panelMargin + (1-y)*(panelHeight-2*panelMargin)
}

func (p panel) line(colour, dashes string, points [][2]float64) {
	fmt.Fprintf(p.b, `<polyline fill="none" stroke="%s" stroke-dasharray="%s" points="`, colour, dashes)
	for _, q := range points {
		x, y := p.at(q[0], q[1])
		fmt.Fprintf(p.b, "%.1f,%.1f ", x, y)
	}
	p.b.WriteString("\"/>\n")
}

func (p panel) text(x, y, dx, dy float64, anchor, words string) {
	px, py := p.at(x, y)
	fmt.Fprintf(p.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", px+dx, py+dy, anchor, words)
}

const curveColour = "#1f4e9c"

// drawRates draws the largest true-positive rate at every false-positive rate.
func drawRates(b *bytes.Buffer, c *accountant.Curve) {
	tenths := func(i int) string {
		if i%2 == 1 {
			return ""
		}
		return fmt.Sprintf("%.1f", float64(i)/10)
	}
	p := newPanel(b, 0, "What a membership test can reach", "false-positive rate", "true-positive rate", tenths, tenths)
	p.line("#888", "4 3", [][2]float64{{0, 0}, {1, 1}})
	var bound [][2]float64
	for i := range 101 {
		x := math.Pow(float64(i)/100, 2) // denser at small rates
		bound = append(bound, [2]float64{x, c.TPR(x)})
	}
	p.line(curveColour, "", bound)
	p.text(0.98, 0.14, 0, 0, "end", "solid: at most, with the release")
	p.text(0.98, 0.07, 0, 0, "end", "dashed: guessing")
}

// drawEpsilon draws epsilon against the logarithm of delta, and the claim.
func drawEpsilon(b *bytes.Buffer, c *accountant.Curve, delta float64) {
	const first, last = -12, -2 // powers of ten
	top := c.Epsilon(math.Pow(10, first))
	if !(top > 0) || math.IsInf(top, 1) {
		top = 1
	}
	p := newPanel(b, panelWidth, "Privacy curve", "delta", "epsilon, at most",
		func(i int) string {
			if i%2 == 1 {
				return ""
			}
			return fmt.Sprintf("1e%d", first+i*(last-first)/10)
		},
		func(i int) string {
			if i%2 == 1 {
				return ""
			}
			return fmt.Sprintf("%.3g", top*float64(i)/10)
		})
	at := func(logDelta float64) [2]float64 {
		return [2]float64{(logDelta - first) / (last - first), c.Epsilon(math.Pow(10, logDelta)) / top}
	}
	var curve [][2]float64
	for e := float64(first); e <= last; e += 0.125 {
		if q := at(e); !math.IsInf(q[1], 1) {
			curve = append(curve, q)
		}
	}
	p.line(curveColour, "", curve)
	if claim := at(math.Log10(delta)); claim[0] >= 0 && claim[0] <= 1 && claim[1] <= 1 {
		x, y := p.at(claim[0], claim[1])
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", x, y, curveColour)
	}
}
