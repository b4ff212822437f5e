// Package manual writes the topics of `d3p help` from the tables that read model files.
package manual

import "strings"

// Topic is a page of `d3p help NAME` and of the manual.
type Topic struct {
	Name, Short string
	text        func() string
}

// Topics lists the pages. A new page is a file and a line here.
func Topics() []Topic {
	return []Topic{
		{"keys", "the keys of a model file", keys},
		{"formula", "what a formula may have", formulas},
		{"families", "families of responses, and of columns of a twin", families},
		{"distributions", "distributions and functions of expressions", distributions},
		{"layers", "layers of networks", layers},
	}
}

// Text is the page. Entries are indented by four spaces, which the manual shows unchanged.
func (t Topic) Text() string { return strings.TrimRight(t.text(), "\n") }

// width is the longest line of a page.
const width = 78

// page collects the text of a topic.
type page struct{ strings.Builder }

// paragraph writes text without indentation.
func (p *page) paragraph(text string) { p.WriteString(wrapped(text, "") + "\n") }

// entry writes a term, and its meaning below it.
func (p *page) entry(term, meaning string) {
	p.WriteString(wrapped(term, "    "))
	if meaning != "" {
		p.WriteString(wrapped(meaning, "        "))
	}
}

// wrapped breaks text into lines with an indentation.
func wrapped(text, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line) > len(indent) && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
