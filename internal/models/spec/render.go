package spec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/source"
)

// Render prints the model file with every default filled in: what the file
// leaves open stands there as it will be used, and what the fit's plan decides
// stands there as `auto`. It reads back as the same model. Included files and
// level files are part of the output.
func (s *Spec) Render() []byte {
	return s.render(false, func(p *printer) {
		switch {
		case s.Model != nil:
			s.renderModel(p)
		case s.Twin != nil:
			renderTwin(p, s.Twin, &s.Data)
		default:
			renderCore(p, s.Core)
		}
	})
}

// RenderCore is Render with the model in the core language, whether the file
// states it by core blocks or by a formula.
func (s *Spec) RenderCore() ([]byte, expr.Errors) {
	core, errs := s.Lower()
	if len(errs) > 0 {
		return nil, errs
	}
	return s.render(true, func(p *printer) { renderCore(p, core) }), nil
}

// render prints the file; inCore says that model prints core blocks, which need the
// functions of columns that a formula has as derived columns.
func (s *Spec) render(inCore bool, model func(*printer)) []byte {
	p := &printer{}
	p.line("d3p", "1")
	if s.Name.IsSet() {
		p.text("name", s.Name.V)
	}
	if s.Description.IsSet() {
		p.text("description", s.Description.V)
	}
	p.block("data", func() { renderData(p, &s.Data, inCore) })
	if len(s.Nets) > 0 {
		p.block("nets", func() { renderNets(p, s.Nets) })
	}
	model(p)
	p.block("guide", func() { s.renderGuide(p) })
	p.block("fit", func() { p.settings("fit", s.Settings) })
	p.block("privacy", func() { s.renderPrivacy(p) })
	p.block("output", func() { s.renderOutput(p) })
	if b := s.Release; b.At != (expr.Position{}) {
		p.block("release", func() { renderRelease(p, &b) })
	}
	return []byte(p.String())
}

// renderModel prints the formula with its family's link and every prior.
func (s *Spec) renderModel(p *printer) {
	m := s.Model
	f := formula.FamilyOf(m.Family.V)
	p.block("model", func() {
		p.text("formula", m.Terms.String())
		p.line("family", f.Name)
		p.line("link", f.Link(m.Link.V).Name)
		if len(m.Cuts) > 0 {
			p.line("cuts", m.CutsText())
		}
		for _, f := range m.Predicted {
			p.text(f.Name.V, formula.SumText(f.Intercept, f.Terms))
		}
		if len(m.GroupFormulas) > 0 {
			p.block("group_formula", func() {
				for _, f := range m.GroupFormulas {
					p.text(f.Group.V, formula.SumText(true, f.Terms))
				}
			})
		}
		if len(m.Terms.Groups) > 0 {
			p.line("parametrisation", m.Parametrisation.Or("non_centred"))
		}
		core, _ := s.Lower()
		renderDefinitions(p, "priors", m.AllPriors(core))
	})
}

// renderCore prints core blocks.
func renderCore(p *printer, c *core.Core) {
	p.block("core", func() {
		if len(c.Dims) > 0 {
			p.block("dims", func() {
				for _, d := range c.Dims {
					p.line(d.Name.V, dimText(d))
				}
			})
		}
		renderConstraints(p, c.Constraints)
		renderDefinitions(p, "params", c.Params)
		renderDefinitions(p, "let", c.Let)
		if len(c.RowsLet)+len(c.Observe) == 0 {
			return
		}
		p.block("rows", func() {
			renderDefinitions(p, "latent", c.Latent)
			renderDefinitions(p, "let", c.RowsLet)
			renderDefinitions(p, "observe", c.Observe)
		})
	})
}

// dimText prints the value of a dim.
func dimText(d *core.Dim) string {
	switch {
	case d.Size.IsSet():
		return source.FormatNumber(float64(d.Size.V))
	case d.Of.IsSet():
		return "levels(" + d.Of.V + ")"
	}
	return flowList(d.Labels, func(v source.Value[string]) string { return v.V })
}

// renderDefinitions prints named expressions under a key, when there are any.
func renderDefinitions(p *printer, key string, list []*core.Definition) {
	if len(list) == 0 {
		return
	}
	p.block(key, func() {
		for _, d := range list {
			p.text(d.Name.V, d.Text.V)
		}
	})
}

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
