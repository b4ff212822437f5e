package figure

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// HTML is the figure as SVG inside a page with StyleSheet; empty for a figure that was not
// drawn.
func (f Figure) HTML() template.HTML {
	if f.width == 0 {
		return ""
	}
	var b strings.Builder
	title := html.EscapeString(f.title)
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%s</title>`, f.width, f.height, title, title)
	for _, s := range f.shapes {
		s.svg(&b, fmt.Sprintf(`class="%s"`, s.class))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// attributes are the properties of a class as attributes of an element, for files
// without a style sheet.
func attributes(class string) string {
	var list []string
	for _, p := range styleOf(class).properties(hex) {
		list = append(list, fmt.Sprintf(`%s="%s"`, p[0], p[1]))
	}
	return strings.Join(list, " ")
}

// svg writes a shape as an element with attributes of its look.
func (s shape) svg(b *strings.Builder, look string) {
	switch s.kind {
	case open, closed:
		name := "polyline"
		if s.kind == closed {
			name = "polygon"
		}
		fmt.Fprintf(b, `<%s %s points="`, name, look)
		for i, p := range s.points {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(b, "%.1f,%.1f", p.X, p.Y)
		}
		b.WriteString(`"/>`)
	case dot:
		fmt.Fprintf(b, `<circle %s cx="%.1f" cy="%.1f" r="%g"/>`, look, s.points[0].X, s.points[0].Y, s.radius)
	case words:
		place := fmt.Sprintf(`x="%.1f" y="%.1f"`, s.points[0].X, s.points[0].Y)
		if s.upward {
			place = fmt.Sprintf(`transform="translate(%.1f %.1f) rotate(-90)"`, s.points[0].X, s.points[0].Y)
		}
		fmt.Fprintf(b, `<text %s %s text-anchor="%s">%s</text>`, look, place, s.anchor, html.EscapeString(s.words))
	}
}
