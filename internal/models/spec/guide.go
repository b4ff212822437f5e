package spec

import (
	"github.com/goccy/go-yaml/ast"
)

// SpreadOnBounds is the start of means that are spread over the declared bounds
// of the columns, so that the components of a mixture differ from the start.
const SpreadOnBounds = "spread_on_bounds"

// GuideBlock gives one parameter a family of its own, independent of the others.
type GuideBlock struct{ Param, Family Value[string] }

// Custom is the type of a guide whose laws the model file writes.
const Custom = "custom"

// guideType reads `type:`.
func (r *reader) guideType(e entry) Value[string] {
	return r.choice(e, "mean_field", "full_rank", "low_rank", "delta", Amortised, Custom)
}

// checkCustom reports laws beside a guide that has its own, and a custom guide
// without any.
func (r *reader) checkCustom(g *Guide) {
	custom := g.Type.V == Custom
	for _, list := range [][]*Definition{g.Params, g.Free} {
		if len(list) > 0 && g.Type.IsSet() && !custom {
			r.add(list[0].Name.At, "write `type: custom`", "a guide of type %s writes its own laws", g.Type.V)
		}
	}
	if custom && len(g.Params) == 0 {
		r.add(g.Type.At, "add `params:` with a line `name: distribution` of free parameters", "a custom guide needs laws of its parameters")
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
			blocks = append(blocks, GuideBlock{Value[string]{e.key, e.at}, family})
		}
	}
	return blocks
}

// guideInit reads `init: prior` or, by parameter, `init: {mus: spread_on_bounds}`;
// the others then start as the plan decides.
func (r *reader) guideInit(e entry, g *Guide) {
	if _, ok := e.node.(*ast.MappingNode); !ok {
		if s, ok := e.node.(*ast.StringNode); ok && r.shape == nil && s.Value == SpreadOnBounds {
			r.add(r.at(e.node), "write init: {mus: "+SpreadOnBounds+"}", "%s needs the name of a parameter", SpreadOnBounds)
			return
		}
		g.Init = r.choice(e, "prior", "zero")
		return
	}
	list, ok := r.entries(e.node, "init")
	if !ok {
		return
	}
	for _, e := range list {
		if e.node != nil && r.choice(e, SpreadOnBounds).IsSet() {
			g.Spread = append(g.Spread, Value[string]{e.key, e.at})
		}
	}
}

// checkBlocks reports blocks beside a guide that has none.
func (r *reader) checkBlocks(g *Guide) {
	if t := g.Type; len(g.Blocks) > 0 && (t.V == "delta" || t.V == Amortised || t.V == Custom) {
		r.add(g.Blocks[0].Param.At, "use mean_field, full_rank or low_rank", "a guide of type %s has no blocks", t.V)
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

// renderInit prints where the means start.
func renderInit(p *printer, g *Guide) {
	if len(g.Spread) == 0 {
		p.maybe("init", g.Init.V, g.Init.IsSet())
		return
	}
	p.block("init", func() {
		for _, name := range g.Spread {
			p.line(name.V, SpreadOnBounds)
		}
	})
}
