package spec

import (
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/guide"
	"d3p/internal/models/source"
	"d3p/internal/settings"
)

// SpreadOnBounds is the start of means that are spread over the declared bounds
// of the columns, so that the components of a mixture differ from the start.
const SpreadOnBounds = "spread_on_bounds"

// GuideBlock gives one parameter a family of its own, independent of the others.
type GuideBlock struct{ Param, Family source.Value[string] }

// Guide is what the file says of the guide beside its settings: the laws of single
// parameters.
type Guide struct {
	Blocks []GuideBlock           // parameters with a family of their own
	Spread []source.Value[string] // parameters that start spread over the declared bounds
	Params []*core.Definition     // of custom: the laws of parameters, in terms of free parameters
	Free   []*core.Definition     // of custom: free parameters and where they start, zeros [dim, ...]
	Rows   []*core.Definition     // of amortised: the guide of every local latent, normal(mean, sd)
}

// guide reads `guide:`.
func (r *reader) guide(e entry, g *Guide) {
	r.block(e, fields{
		"init":   func(e entry) { r.guideInit(e, g) },
		"blocks": func(e entry) { g.Blocks = r.guideBlocks(e) },
		"params": func(e entry) { g.Params = r.definitions(e) },
		"free":   func(e entry) { g.Free = r.definitions(e) },
		"rows":   func(e entry) { g.Rows = r.definitions(e) },
	})
	r.checkBlocks(g)
	r.checkCustom(g)
}

// checkCustom reports laws beside a guide that has its own, and a custom guide
// without any.
func (r *reader) checkCustom(g *Guide) {
	family := r.spec.Settings.Word("guide")
	for _, list := range [][]*core.Definition{g.Params, g.Free} {
		if len(list) > 0 && family != "" && family != guide.CustomName {
			r.Add(list[0].Name.At, "write `type: custom`", "a guide of type %s writes its own laws", family)
		}
	}
	if family == guide.CustomName && len(g.Params) == 0 {
		r.Add(r.spec.Settings["guide"].At, "add `params:` with a line `name: distribution` of free parameters", "a custom guide needs laws of its parameters")
	}
}

// guideBlocks reads `blocks: {z: mean_field}`.
func (r *reader) guideBlocks(e entry) []GuideBlock {
	list, ok := r.entries(e.node, "blocks")
	if !ok {
		return nil
	}
	var blocks []GuideBlock
	for _, e := range list {
		if e.node == nil {
			continue
		}
		if family := r.choice(e, "mean_field", "full_rank"); family.IsSet() {
			blocks = append(blocks, GuideBlock{source.Value[string]{V: e.key, At: e.at}, family})
		}
	}
	return blocks
}

// guideInit reads `init: prior` or, by parameter, `init: {mus: spread_on_bounds}`;
// the others then start as the plan decides.
func (r *reader) guideInit(e entry, g *Guide) {
	if _, ok := e.node.(*ast.MappingNode); !ok {
		if s, ok := e.node.(*ast.StringNode); ok && r.shape == nil && s.Value == SpreadOnBounds {
			r.Add(r.at(e.node), "write init: {mus: "+SpreadOnBounds+"}", "%s needs the name of a parameter", SpreadOnBounds)
			return
		}
		r.setting(e, settings.Named("init"))
		return
	}
	list, ok := r.entries(e.node, "init")
	if !ok {
		return
	}
	for _, e := range list {
		if e.node != nil && r.choice(e, SpreadOnBounds).IsSet() {
			g.Spread = append(g.Spread, source.Value[string]{V: e.key, At: e.at})
		}
	}
}

// checkBlocks reports blocks beside a guide that has none.
func (r *reader) checkBlocks(g *Guide) {
	family := r.spec.Settings.Word("guide")
	if len(g.Blocks) > 0 && slices.Contains([]string{"delta", guide.AmortisedName, guide.CustomName}, family) {
		r.Add(g.Blocks[0].Param.At, "use mean_field, full_rank or low_rank", "a guide of type %s has no blocks", family)
	}
}

// renderBlocks prints the parts of the guide that are about single parameters.
func renderBlocks(p *printer, g *Guide) {
	if len(g.Blocks) > 0 {
		p.block("blocks", func() {
			for _, b := range g.Blocks {
				p.line(b.Param.V, b.Family.V)
			}
		})
	}
}

// renderGuide prints the guide.
func (s *Spec) renderGuide(p *printer) {
	g := &s.Guide
	stated := maps.Clone(s.Settings)
	if !stated["guide"].IsSet() {
		stated["guide"] = source.Value[any]{V: s.guideDefault(), At: expr.Position{Line: 1}}
	}
	if len(g.Spread) == 0 {
		p.settings("guide", stated)
	} else {
		p.settings("guide", stated, "init")
		p.block("init", func() {
			for _, name := range g.Spread {
				p.line(name.V, SpreadOnBounds)
			}
		})
	}
	renderBlocks(p, g)
	renderDefinitions(p, "params", g.Params)
	renderDefinitions(p, "free", g.Free)
	renderDefinitions(p, "rows", g.Rows)
}
