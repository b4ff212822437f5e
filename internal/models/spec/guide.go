package spec

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/core"
	"d3p/internal/models/guide"
	"d3p/internal/models/source"
	"d3p/internal/settings"
)

// spreadOnBounds is the start of means that are spread over the declared bounds
// of the columns, so that the components of a mixture differ from the start.
const spreadOnBounds = "spread_on_bounds"

// GuideBlock gives one parameter its own family, independent of the others.
type GuideBlock struct{ Param, Family source.Value[string] }

// Guide has the keys about the guide that are no settings: the laws of single parameters.
type Guide struct {
	Blocks []GuideBlock           // parameters with a separate family
	Spread []source.Value[string] // parameters that start spread over the declared bounds
	Params []*core.Definition     // of custom: the laws of parameters, in terms of free parameters
	Free   []*core.Definition     // of custom: free parameters and their initial values, zeros [dim, ...]
	Rows   []*core.Definition     // of amortised: the guide of every local latent, normal(mean, sd)
}

// field is `guide:`.
func (g *Guide) field(s *Spec) field {
	f := s.Settings.block("guide", g.fields(s)...)
	read := f.read
	f.read = func(r *reader, e entry) {
		read(r, e)
		r.checkBlocks(g)
		r.checkCustom(g)
	}
	return f
}

// fields are the keys of `guide:` besides its settings. The file's networks decide the
// family, and init may be stated by parameter.
func (g *Guide) fields(s *Spec) []field {
	rows := keyed(s.Settings.fields("guide", nil))
	init := rows["init"]
	return []field{
		rows["type"].or(s.GuideDefault()),
		{key: "init",
			read:   func(r *reader, e entry) { r.guideInit(e, g) },
			stated: func() bool { return len(g.Spread) > 0 || init.stated() },
			print: func(p *printer) {
				if len(g.Spread) == 0 {
					init.print(p)
					return
				}
				spreads(g).print(p)
			}, absent: init.absent, meaning: init.meaning + "; {mus: " + spreadOnBounds + "} spreads the components of a parameter over the declared bounds"},
		named("blocks", &g.Blocks, func(r *reader, e entry) (GuideBlock, bool) {
			family := r.choice(e, guide.MeanFieldName, guide.FullRankName)
			return GuideBlock{e.name(), family}, family.IsSet()
		}, func(p *printer, b GuideBlock) { p.line(b.Param.V, b.Family.V) }).means("parameters with a family of their own, independent of the others: {z: mean_field}; z stands for those of all groups"),
		definitions("params", &g.Params).means("of a custom guide: distributions of parameters in terms of free parameters; prior stands for the prior"),
		definitions("free", &g.Free).means("of a custom guide: free parameters and their starts, zeros, ones or a number, with dims"),
		definitions("rows", &g.Rows).means("of an amortised guide: the normal guide of each local latent"),
	}
}

// checkCustom reports laws under a guide with its own, and a custom guide without any.
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

// guideInit reads `init: prior` or, by parameter, `init: {mus: spread_on_bounds}`;
// the others then start as the plan decides.
func (r *reader) guideInit(e entry, g *Guide) {
	if !e.isMapping() {
		if s, ok := e.node.(*ast.StringNode); ok && r.shape == nil && s.Value == spreadOnBounds {
			r.Add(r.at(e.node), "write init: {mus: "+spreadOnBounds+"}", "%s needs the name of a parameter", spreadOnBounds)
			return
		}
		r.setting(e, settings.Named("init"))
		return
	}
	spreads(g).read(r, e)
}

// spreads is `init: {mus: spread_on_bounds}`.
func spreads(g *Guide) field {
	return named("init", &g.Spread, func(r *reader, e entry) (source.Value[string], bool) {
		return e.name(), r.choice(e, spreadOnBounds).IsSet()
	}, func(p *printer, name source.Value[string]) { p.line(name.V, spreadOnBounds) })
}

// checkBlocks reports blocks under a guide that takes none.
func (r *reader) checkBlocks(g *Guide) {
	family := r.spec.Settings.Word("guide")
	if len(g.Blocks) > 0 && slices.Contains([]string{guide.DeltaName, guide.AmortisedName, guide.CustomName}, family) {
		r.Add(g.Blocks[0].Param.At, "use mean_field, full_rank or low_rank", "a guide of type %s has no blocks", family)
	}
}
