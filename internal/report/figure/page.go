package figure

import (
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Formats lists the file formats of a page.
func Formats() []string { return []string{"svg", "png"} }

// Page is a file of figures in rows of three, for papers and slides.
type Page struct {
	Figures []Figure
	Stamp   string // across the foot, when there is no guarantee
}

// Sizes of a page, in pixels.
const (
	pageColumns = 3
	pageMargin  = 10
	pageGap     = 14
	stampHeight = 24
)

// Write writes the page in a format of Formats.
func (p Page) Write(w io.Writer, format string) error {
	drawing, err := p.drawing()
	if err != nil {
		return err
	}
	switch format {
	case "svg":
		return drawing.file(w)
	case "png":
		return drawing.png(w)
	}
	return fmt.Errorf("format %s is not one of %s", format, strings.Join(Formats(), ", "))
}

// drawing is the page as one figure.
func (p Page) drawing() (Figure, error) {
	var page Figure
	var shapes []shape
	x, y, below := 0.0, 0.0, 0.0 // of the next figure, and of the next row
	var titles []string
	for i, f := range p.Figures {
		if i > 0 && i%pageColumns == 0 {
			x, y = 0, below+pageGap
		}
		for _, s := range f.shapes {
			moved := s
			moved.points = make([]Point, len(s.points))
			for k, at := range s.points {
				if math.IsNaN(at.X+at.Y) || math.IsInf(at.X+at.Y, 0) {
					return Figure{}, errors.New(f.title + ": a number is not finite")
				}
				moved.points[k] = Point{at.X + x + pageMargin, at.Y + y + pageMargin}
			}
			shapes = append(shapes, moved)
		}
		titles = append(titles, f.title)
		page.width = max(page.width, x+f.width+2*pageMargin)
		below = max(below, y+f.height)
		x += f.width + pageGap
	}
	page.title, page.height = strings.Join(titles, "; "), below+2*pageMargin
	if p.Stamp != "" {
		shapes = append(shapes, shape{kind: words, class: "stamp", anchor: "middle", words: p.Stamp,
			points: []Point{{page.width / 2, page.height + stampHeight/2}}})
		page.height += stampHeight
	}
	paper := shape{kind: closed, class: "paper", points: []Point{{0, 0}, {page.width, 0}, {page.width, page.height}, {0, page.height}}}
	page.shapes = append([]shape{paper}, shapes...)
	return page, nil
}

// file writes the figure as an SVG file, which needs no style sheet.
func (f Figure) file(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="%s">`+"\n<title>%s</title>\n",
		f.width, f.height, f.width, f.height, html.EscapeString(fonts), html.EscapeString(f.title))
	for _, s := range f.shapes {
		s.svg(&b, attributes(s.class))
		b.WriteByte('\n')
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
