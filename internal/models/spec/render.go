package spec

import (
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
