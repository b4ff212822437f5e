package figure

import (
	"fmt"
	"html/template"
	"image/color"
	"strconv"
	"strings"
)

// style is the look of the shapes of one class. Colours are names of palette or #rrggbb; ""
// draws nothing.
type style struct {
	class       string
	fill        string
	fillOpacity float64 // 0 means 1
	stroke      string
	opacity     float64 // of the stroke; 0 means 1
	width       float64 // of the stroke
	dash        []float64
	round       bool    // ends of the stroke
	size        float64 // of text
	halo        bool    // a white edge around text
}

// palette names the colours that the page of the report uses too.
func palette() [][2]string {
	return [][2]string{
		{"ink", "#1b1f24"}, {"soft", "#57606a"}, {"line", "#d0d7de"},
		{"run", "#0b5fa5"}, {"claim", "#b35900"}, {"gauss", "#1a7f37"}, {"bad", "#b42318"},
	}
}

// styles is the table of classes.
func styles() []style {
	return []style{
		// text
		{class: "tick", fill: "soft", size: 10.5},
		{class: "name", fill: "soft", size: 11.5},
		{class: "word", fill: "ink", size: 11.5, halo: true},
		{class: "label", fill: "ink", size: 11.5},
		{class: "plain", fill: "ink", size: 11.5},
		{class: "stamp", fill: "bad", size: 14},
		// lines
		{class: "grid", stroke: "line", width: 0.6},
		{class: "axis", stroke: "soft", width: 1},
		{class: "guess", stroke: "soft", width: 1.2, dash: []float64{2, 3}},
		{class: "claim", stroke: "claim", width: 1.8, dash: []float64{7, 3}},
		{class: "gauss", stroke: "gauss", width: 2.6, dash: []float64{0.1, 9}, round: true},
		{class: "run", stroke: "run", width: 2.2},
		{class: "fourth", stroke: "#6f42c1", width: 1.8, dash: []float64{3, 2}},
		{class: "sixth", stroke: "bad", width: 1.8},
		{class: "seventh", stroke: "#0f766e", width: 1.8, dash: []float64{9, 3, 2, 3}},
		{class: "eighth", stroke: "#bf3989", width: 1.8, dash: []float64{5, 2}},
		{class: "ninth", stroke: "#7d4e00", width: 1.8, dash: []float64{1.5, 2}},
		{class: "tenth", stroke: "#1b7c83", width: 1.8, dash: []float64{7, 3}},
		{class: "thin", stroke: "run", width: 1.4},
		{class: "thick", stroke: "run", width: 5, opacity: 0.55},
		// dots, boxes and areas
		{class: "mark", fill: "run", stroke: "#ffffff", width: 1},
		{class: "mean", fill: "run", stroke: "#ffffff", width: 1},
		{class: "room", fill: "#e4e8ed"},
		{class: "noise", fill: "claim"},
		{class: "part0", fill: "run"},
		{class: "part1", fill: "claim"},
		{class: "part2", fill: "gauss"},
		{class: "part3", fill: "#6f42c1"},
		{class: "secret", fill: "#fdf0e6", stroke: "claim", width: 1},
		{class: "public", fill: "#e8f1fa", stroke: "run", width: 1},
		{class: "tip", fill: "soft"},
		{class: "before", fill: "soft", fillOpacity: 0.12},
		{class: "after", fill: "run", fillOpacity: 0.22},
		{class: "paper", fill: "#ffffff"},
	}
}

// Prefixes of the classes of the means and bars of a series, before that of its line, whose
// colour they have.
const (
	meanOf = "mean of "
	barOf  = "bar of "
)

// styleOf is the style of a class; a class that is not in the table is a bug.
func styleOf(class string) style {
	if line, ok := strings.CutPrefix(class, meanOf); ok {
		return style{class: class, fill: styleOf(line).stroke, stroke: "#ffffff", width: 1}
	}
	if line, ok := strings.CutPrefix(class, barOf); ok {
		return style{class: class, stroke: styleOf(line).stroke, width: 1.4}
	}
	for _, s := range styles() {
		if s.class == class {
			return s
		}
	}
	panic("figure: no style for class " + class)
}

// fonts are the families of the text in SVG.
const fonts = `system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`

// StyleSheet has the palette as CSS variables, and a rule for each class of the
// shapes that HTML writes.
func StyleSheet() template.CSS {
	var b strings.Builder
	b.WriteString(":root {")
	for _, c := range palette() {
		fmt.Fprintf(&b, " --%s: %s;", c[0], c[1])
	}
	fmt.Fprintf(&b, " }\nsvg text { font-family: %s; }\n", fonts)
	for _, s := range styles() {
		fmt.Fprintf(&b, "svg .%s {", s.class)
		for _, p := range s.properties(variable) {
			fmt.Fprintf(&b, " %s: %s;", p[0], p[1])
		}
		b.WriteString(" }\n")
	}
	return template.CSS(b.String())
}

// properties are the SVG properties of a style, with colours as colour says.
func (s style) properties(colour func(string) string) (list [][2]string) {
	add := func(name, value string) { list = append(list, [2]string{name, value}) }
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	if s.size > 0 {
		add("font-size", number(s.size)+"px")
	}
	if s.fill == "" {
		add("fill", "none")
	} else {
		add("fill", colour(s.fill))
	}
	if s.fillOpacity > 0 {
		add("fill-opacity", number(s.fillOpacity))
	}
	if s.stroke != "" {
		add("stroke", colour(s.stroke))
		add("stroke-width", number(s.width))
	}
	if s.opacity > 0 {
		add("stroke-opacity", number(s.opacity))
	}
	if len(s.dash) > 0 {
		add("stroke-dasharray", number(s.dash[0])+" "+number(s.dash[1]))
	}
	if s.round {
		add("stroke-linecap", "round")
	}
	if s.halo {
		add("paint-order", "stroke")
		add("stroke", "#ffffff")
		add("stroke-width", "3px")
		add("stroke-linejoin", "round")
	}
	return list
}

// variable is a colour as a CSS variable of StyleSheet.
func variable(name string) string {
	if strings.HasPrefix(name, "#") {
		return name
	}
	return "var(--" + name + ")"
}

// hex is a colour as #rrggbb.
func hex(name string) string {
	for _, c := range palette() {
		if c[0] == name {
			return c[1]
		}
	}
	return name
}

// pixel is a colour of a picture; opacity 0 means 1.
func pixel(name string, opacity float64) color.Color {
	rgb, err := strconv.ParseUint(strings.TrimPrefix(hex(name), "#"), 16, 32)
	if err != nil {
		panic("figure: no colour " + name)
	}
	alpha := uint8(255)
	if opacity > 0 {
		alpha = uint8(255*opacity + 0.5)
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: alpha}
}
