package models

import (
	"maps"

	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/spell"
)

// A local latent z of a record x has the prior p(z) = normal(a, b) and the
// amortised guide q(z | x) = normal(μ(x), σ(x)), both of `core` and `guide`.
// With ε from N(0, I), new for every record and step,
//
//	z = μ + σ ε,  log p(x) ≥ E[ log p(x | z) ] − KL(q(z | x) ‖ p(z)),
//	KL = Σ (log(b/σ) + (σ² + (μ − a)²)/2b² − ½),
//
// and the loss of a record is the bracket at its z less the divergence: its gradient with
// respect to the weights of encoder and decoder is that of the bound. At a sampled z the
// divergence would have the same mean, and noise that enlarges the gradients, which are
// clipped. If a or b depends on another latent, they are taken at its z. Kingma and Welling
// 2014, arXiv:1312.6114, appendix B.

// latents adds the local latents of a record: from the guide if that reads the record, else
// from the prior. It returns −KL(q(z | x) ‖ p(z)) in the first case, 0 in the second.
func (g *build) latents() *graph.Node {
	correction := g.b.Const(0)
	for _, d := range g.c.core.Latent {
		prior, shape := g.latentPrior(d)
		if prior == nil {
			continue
		}
		noise := g.recordNoise(d.Name.V, shape)
		if !g.guided {
			z := g.b.Add(prior.Args[0], g.b.Mul(prior.Args[1], noise))
			g.env.Values[d.Name.V] = expr.Value{Node: g.b.Expand(z, shape)}
			continue
		}
		guide := g.latentGuide(d, shape)
		if guide == nil {
			g.env.Values[d.Name.V] = expr.Value{Node: noise} // its users are not to blame
			continue
		}
		mean, sd := guide[0], guide[1]
		z := g.b.Expand(g.b.Add(mean, g.b.Mul(sd, noise)), shape)
		correction = g.b.Sub(correction, sumAll(g.b, g.b.Expand(normalDivergence(g.b, mean, sd, prior.Args[0], prior.Args[1]), shape)))
		g.env.Values[d.Name.V] = expr.Value{Node: z}
	}
	return correction
}

// normalDivergence is KL(normal(mean, sd) ‖ normal(a, b)) of each number.
func normalDivergence(g *graph.Builder, mean, sd, a, b *graph.Node) *graph.Node {
	squares := g.Add(g.Square(sd), g.Square(g.Sub(mean, a)))
	logs := g.Sub(g.Log(b), g.Log(sd))
	return g.Add(logs, g.Sub(g.Div(squares, g.Mul(g.Const(2), g.Square(b))), g.Const(0.5)))
}

// withGuided is the meaning of names in a guide, which reads the whole record, also
// observed columns.
func (g *build) withGuided(values map[string]expr.Value) map[string]expr.Value {
	all, u := maps.Clone(values), newUsage()
	for _, q := range g.c.spec.Guide.Rows {
		if q.Expr != nil {
			expr.Walk(q.Expr, u.visit)
		}
	}
	for _, t := range g.c.spec.Data.Tensors {
		if _, ok := all[t.Name.V]; !ok && u.named[t.Name.V] && len(t.Columns) > 0 {
			all[t.Name.V] = expr.Value{Node: g.tensor(t, encoding.Response)}
		}
	}
	for _, column := range g.c.spec.Data.Columns {
		if _, ok := all[column.Name.V]; ok || !u.named[column.Name.V] {
			continue
		}
		if column.Numeric() {
			all[column.Name.V] = expr.Value{Node: g.read(g.c.encoder.Scaled(column, encoding.Response))}
		} else {
			all[column.Name.V] = expr.Value{Node: g.read(g.c.encoder.Code(column, encoding.Response)), Labels: column.LevelNames()}
		}
	}
	for _, dim := range g.c.core.Dims {
		if u.dims[dim.Name.V] && g.env.Design[dim.Name.V] == nil {
			g.design(dim)
		}
	}
	return all
}

// latentPrior reads `name: normal(mean, sd) [dims]`, nil after a mistake.
func (g *build) latentPrior(d *core.Definition) (*dist.Applied, graph.Shape) {
	e, dims, errs := expr.SplitDims(d.Expr)
	shape, more := g.env.Shape(dims)
	density, bad := expr.LowerDensity(e, g.env, g.b)
	if errs = append(append(errs, more...), bad...); len(errs) > 0 {
		g.c.errs = append(g.c.errs, errs...)
		return nil, nil
	}
	return g.normal(d, density, shape), shape
}

// latentGuide is mean and sd of a latent given the record, nil after a mistake.
func (g *build) latentGuide(d *core.Definition, shape graph.Shape) []*graph.Node {
	for _, q := range g.c.spec.Guide.Rows {
		if q.Name.V != d.Name.V || q.Expr == nil {
			continue
		}
		outer := g.env.Values
		g.env.Values = g.withGuided(outer)
		density, errs := expr.LowerDensity(q.Expr, g.env, g.b)
		g.env.Values = outer
		g.c.errs = append(g.c.errs, errs...)
		if density == nil {
			return nil
		}
		a, ok := density.(dist.Applied)
		if !ok || a.Name != "normal" {
			g.c.errs.Add(q.Text.At, "write normal(mean, sd) with outputs of a net", "the guide of latent %s must be normal", d.Name.V)
			return nil
		}
		for i := range a.Args {
			a.Args[i] = g.c.undimmed(g.b, a.Args[i], shape)
		}
		if a := g.normal(q, a, shape); a != nil {
			return a.Args
		}
		return nil
	}
	return nil
}

// normal checks that a density is a normal one of this shape.
func (g *build) normal(d *core.Definition, density dist.Density, shape graph.Shape) *dist.Applied {
	a, ok := density.(dist.Applied)
	switch {
	case !ok || a.Name != "normal":
		g.c.errs.Add(d.Text.At, "write normal(mean, sd) [dims]", "a local latent is normal, %s is not", d.Text.V)
		return nil
	}
	if err := a.Fits(shape); err != nil {
		g.c.errs.Add(d.Text.At, "", "%v", err)
		return nil
	}
	return &a
}

// undimmed gives a network's output with dims of its own the dims of a value with the same
// sizes.
func (c *compiler) undimmed(b *graph.Builder, x *graph.Node, shape graph.Shape) *graph.Node {
	have := x.Shape()
	if len(have) != len(shape) {
		return x
	}
	for i, d := range have {
		own := false
		for _, n := range c.networks {
			own = own || n.Own(d)
		}
		if !own || d.Size != shape[i].Size {
			return x
		}
	}
	return b.Reshape(x, shape)
}

// checkLatents reports local latents without a guide, guides without a latent,
// and a guide that has no place for them.
func (c *compiler) checkLatents() {
	guided := make(map[string]bool)
	for _, q := range c.spec.Guide.Rows {
		guided[q.Name.V] = true
		known := false
		var names []string
		for _, d := range c.core.Latent {
			known = known || d.Name.V == q.Name.V
			names = append(names, d.Name.V)
		}
		if !known {
			c.errs.Add(q.Name.At, spell.Question(q.Name.V, names, ""), "no local latent %s", q.Name.V)
		}
	}
	for _, d := range c.core.Latent {
		if !guided[d.Name.V] {
			c.errs.Add(d.Name.At, "add `guide: {type: amortised}` with `rows:` and `"+d.Name.V+": normal(encoder(x).mean, encoder(x).sd)`", "local latent %s has no guide", d.Name.V)
		}
	}
	if family := c.spec.Settings.Word("guide"); len(c.core.Latent) > 0 && family != "" && family != guide.AmortisedName {
		c.errs.Add(c.spec.Settings["guide"].At, "write `type: amortised`", "guide %s has no local latents", family)
	}
}
