package spec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Render prints the model file with every default filled in: open values have their
// defaults, and values that the fit's plan decides are `auto`. It reads back as the same
// model. Included files and level files are part of the output.
func (s *Spec) Render() []byte {
	p := &printer{}
	p.fields((&blocks{spec: s}).topLevel(0))
	return []byte(p.String())
}

// RenderCore is Render with the model in the core language, whether the file
// states it by core blocks or by a formula.
func (s *Spec) RenderCore() ([]byte, expr.Errors) {
	core, errs := s.Lower()
	if len(errs) > 0 {
		return nil, errs
	}
	lowered := *s
	lowered.Model, lowered.Twin, lowered.Core = nil, nil, core
	return lowered.Render(), nil
}

// printer writes YAML: lines in block style, or the parts of a mapping on one line.
type printer struct {
	strings.Builder
	depth int
	flow  bool
	parts []string // in flow style
}

// fields prints a list of fields.
func (p *printer) fields(list []field) {
	for _, f := range list {
		switch {
		case f.print == nil || f.hidden:
		case f.stated():
			f.print(p)
		case f.absent != "":
			p.line(f.key, f.absent)
		}
	}
}

// line writes `key: value`, the value unchanged.
func (p *printer) line(key, value string) {
	if p.flow {
		p.parts = append(p.parts, key+": "+value)
		return
	}
	p.WriteString(strings.Repeat("  ", p.depth) + quoteIn("%s: 0", key) + ": " + value + "\n")
}

// block writes `key:` and the output of body below it, one level deeper.
func (p *printer) block(key string, body func()) {
	p.WriteString(strings.Repeat("  ", p.depth) + quoteIn("%s: 0", key) + ":\n")
	p.depth++
	body()
	p.depth--
}

// item writes one element of a list, unchanged.
func (p *printer) item(value string) {
	p.WriteString(strings.Repeat("  ", p.depth) + "- " + value + "\n")
}

// value writes a line with a scalar or a list of words.
func (p *printer) value(key string, value any) {
	switch v := value.(type) {
	case string:
		p.text(key, v)
	case []string:
		p.line(key, flowList(v, func(s string) string { return s }))
	case []int:
		p.line(key, plainList(v))
	case []float64:
		p.line(key, plainList(v))
	default:
		p.line(key, plainText(value))
	}
}

// text writes a line with a text value, quoted if need be.
func (p *printer) text(key, value string) {
	if p.flow {
		p.line(key, flowText(value))
	} else {
		p.line(key, quoteIn("k: %s", value))
	}
}

// plainList prints a list of numbers.
func plainList[T any](list []T) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = plainText(x)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// plainText is a scalar in the form that YAML reads back, unquoted.
func plainText(value any) string {
	switch v := value.(type) {
	case float64:
		return source.FormatNumber(v)
	case int:
		return strconv.Itoa(v)
	}
	return fmt.Sprint(value)
}

// flowList prints [a, b, c].
func flowList[T any](list []T, text func(T) string) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = flowText(text(x))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// flowText quotes a text for use inside {} and [] if need be; the parser reads
// a colon there as a key even where YAML does not.
func flowText(s string) string {
	if strings.Contains(s, ":") {
		return strconv.Quote(s)
	}
	return quoteIn("k: [%s]", s)
}

// quoteIn returns s unchanged if YAML reads it back as the same plain text in the place
// that format describes, and in double quotes otherwise.
func quoteIn(format, s string) string {
	file, err := parser.ParseBytes(fmt.Appendf(nil, format, s), 0)
	if err == nil && len(file.Docs) == 1 {
		if m, ok := file.Docs[0].Body.(*ast.MappingNode); ok && len(m.Values) == 1 {
			var n ast.Node = m.Values[0].Value
			if strings.HasPrefix(format, "%s") {
				n = m.Values[0].Key
			}
			if l, ok := n.(*ast.SequenceNode); ok && len(l.Values) == 1 {
				n = l.Values[0]
			}
			if t, ok := n.(*ast.StringNode); ok && plain(t) && t.Value == s && s != "auto" {
				return s
			}
		}
	}
	return strconv.Quote(s)
}
