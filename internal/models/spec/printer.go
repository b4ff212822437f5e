package spec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"d3p/internal/models/source"
)

// printer writes block-style YAML.
type printer struct {
	strings.Builder
	depth int
}

// line writes `key: value`, the value as it is.
func (p *printer) line(key, value string) {
	p.WriteString(strings.Repeat("  ", p.depth) + quoteIn("%s: 0", key) + ": " + value + "\n")
}

// block writes `key:` and what body writes below it, one level deeper.
func (p *printer) block(key string, body func()) {
	p.WriteString(strings.Repeat("  ", p.depth) + quoteIn("%s: 0", key) + ":\n")
	p.depth++
	body()
	p.depth--
}

// item writes one element of a list, as it is.
func (p *printer) item(value string) {
	p.WriteString(strings.Repeat("  ", p.depth) + "- " + value + "\n")
}

// text writes a line with a text value, quoted if need be.
func (p *printer) text(key, value string) { p.line(key, quoteIn("k: %s", value)) }

// maybe writes a value that the file states; `auto` stands for one that the
// fit's plan decides.
func (p *printer) maybe(key, value string, stated bool) {
	if !stated {
		value = "auto"
	}
	p.line(key, value)
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

// quoteIn returns s as it is when YAML reads it back as the same plain text in
// the place that format describes, and in double quotes otherwise.
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

// count writes a whole number or auto.
func (p *printer) count(key string, v source.Value[int]) {
	p.maybe(key, strconv.Itoa(v.V), v.IsSet())
}
