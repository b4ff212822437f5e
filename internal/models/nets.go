package models

import (
	"strconv"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/models/source"
	"d3p/internal/models/support"
)

// nets resolves the networks, so that expressions can call them.
func (c *compiler) nets(scratch *build) {
	for _, n := range c.spec.Nets {
		resolved, errs := net.Resolve(n, c.dims)
		c.errs = append(c.errs, errs...)
		if resolved == nil || n.Weights.From.IsSet() && n.Weights.Arrays == nil { // reported
			c.brokenNet = true
			continue
		}
		if !c.calls(n) {
			c.warn(n.Name.At, "call it in rows:, or remove it", "nothing calls net %s, so it is left out", n.Name.V)
			continue
		}
		c.networks = append(c.networks, resolved)
		for _, w := range resolved.Weights {
			if !w.Frozen {
				scratch.env.Values[w.Name] = expr.Value{Node: scratch.b.Param(w.Name, w.Shape)}
			}
		}
		for _, note := range resolved.Notes {
			c.warn(n.Weights.From.At, "rename layers by `names: {LAYER: NAME}`, if it is there", "%s", note)
		}
	}
	scratch.callable()
}

// weights makes every array of weights a parameter, after those that the model
// declares.
func (c *compiler) weights(scratch *build) {
	for _, n := range c.networks {
		p := c.weightPrior(c.spec.Net(n.Name), scratch)
		for _, w := range n.Weights {
			if !w.Frozen {
				c.weight(w, p)
			}
		}
	}
}

// checkTrained reports networks of which every layer is frozen, if nothing else is fitted.
func (c *compiler) checkTrained() {
	if len(c.params) == 0 && len(c.networks) > 0 && len(c.errs) == 0 {
		c.errs.Add(c.spec.Net(c.networks[0].Name).Name.At, "leave frozen: out of a layer, or add a layer", "nothing is fitted: every layer of net %s is frozen", c.networks[0].Name)
	}
}

// weightPrior is the prior that all weights of a net share.
func (c *compiler) weightPrior(n *net.Declaration, scratch *build) prior {
	p := prior{support: support.Real.Whole()}
	if n.Prior == nil || n.Prior.Expr == nil {
		return p
	}
	density, errs := expr.LowerDensity(n.Prior.Expr, scratch.env, scratch.b)
	c.errs = append(c.errs, errs...)
	if density == nil {
		return p
	}
	if density.Support().Kind != support.Real {
		c.errs.Add(n.Prior.Text.At, "such as normal(0, 1)", "weights may be any number, but %s is %v", n.Prior.Text.V, density.Support())
		return p
	}
	if err := density.Fits(nil); err != nil {
		c.errs.Add(n.Prior.Text.At, "", "%v", err)
		return p
	}
	p.distribution = n.Prior.Expr
	return p
}

// weight adds an array of weights to the parameters.
func (c *compiler) weight(w net.Weight, p prior) {
	text := source.Value[string]{V: net.FlatPrior, At: w.At}
	if p.distribution != nil {
		text.V = p.distribution.String()
	}
	p.definition = &core.Definition{Name: source.Value[string]{V: w.Name, At: w.At}, Text: text, Expr: p.distribution}
	p.shape, p.free = w.Shape, w.Shape
	size := w.Shape.Size()
	param := Param{
		Name: w.Name, Dims: c.labelled(w.Shape), Offset: c.size, Size: size, At: c.constrained(), ConstrainedSize: size,
		Transform: support.TransformFor(p.support), Prior: text.V, Weight: true, StartMean: w.Mean, StartSD: w.SD,
	}
	if w.Values != nil {
		c.pretrained = append(c.pretrained, Start{param.Offset, w.Values})
	}
	c.size += size
	c.params = append(c.params, param)
	c.priors = append(c.priors, p)
}

// constrained is the number of values of the parameters so far.
func (c *compiler) constrained() int {
	if n := len(c.params); n > 0 {
		return c.params[n-1].At + c.params[n-1].ConstrainedSize
	}
	return 0
}

// call is a network with the weights of one graph.
type call struct {
	*net.Net
	env *expr.Env
	g   *build
}

// Call implements expr.Net.
func (n call) Call(b *graph.Builder, x, length *graph.Node, head string) *graph.Node {
	c := net.Call{Length: length, Weight: func(w net.Weight) *graph.Node { return n.env.Values[w.Name].Node }}
	c.Operation = func(o net.Operation) { n.g.operations = append(n.g.operations, o) }
	if n.g.training {
		c.Noise = n.g.layerNoise
	}
	return n.Apply(b, x, head, c)
}

// noisyCall is what calls of a network share that have the same noise.
type noisyCall struct {
	input *graph.Node
	view  int
}

// layerNoise is the noise of a layer at an input: calls that share the input,
// as the heads of a net do, share the noise.
func (g *build) layerNoise(layer string, input *graph.Node, shape graph.Shape) *graph.Node {
	call := noisyCall{input, g.view}
	at, seen := g.noisy[call]
	if !seen {
		at = len(g.noisy)
		g.noisy[call] = at
	}
	return g.b.Aux(layer+" at "+strconv.Itoa(at), shape, true)
}

// callable lets expressions call the networks. Weights that are frozen are constants.
func (g *build) callable() {
	g.env.Nets = make(map[string]expr.Net)
	for _, n := range g.c.networks {
		g.env.Nets[n.Name] = call{n, g.env, g}
		for _, w := range n.Weights {
			if w.Frozen {
				g.env.Values[w.Name] = expr.Value{Node: g.b.Consts(w.Shape, w.Values)}
			}
		}
	}
}

// calls reports whether an expression calls the net.
func (c *compiler) calls(n *net.Declaration) bool {
	for _, list := range [][]*core.Definition{c.spec.Guide.Rows, c.core.Let, c.core.RowsLet, c.core.Observe} {
		for _, d := range list {
			if d.Expr != nil && n.Calls(d.Expr) {
				return true
			}
		}
	}
	return false
}

// warn adds a warning to those of the file, once for any number of compilations.
func (c *compiler) warn(at expr.Position, hint, format string, args ...any) {
	var list expr.Errors
	list.Add(at, hint, format, args...)
	for _, w := range c.spec.Warnings {
		if w.Position == list[0].Position && w.Message == list[0].Message {
			return
		}
	}
	c.spec.Warnings = append(c.spec.Warnings, list...)
}

// checkNets reports networks that share a name with another callable.
func (c *compiler) checkNets() {
	taken := make(map[string]bool)
	for _, name := range append(expr.FunctionNames(), expr.DensityNames()...) {
		taken[name] = true
	}
	for _, n := range c.spec.Nets {
		if taken[n.Name.V] {
			c.errs.Add(n.Name.At, "rename it", "net %s has the name of a function, distribution or net", n.Name.V)
		}
		taken[n.Name.V] = true
	}
}

// followNets adds to needs the names in the priors of the networks that an expression
// calls.
func (c *compiler) followNets(e expr.Expr, definitions map[string]*core.Definition, needs map[string]bool) {
	for _, n := range c.spec.Nets {
		if needs["net "+n.Name.V] || !n.Calls(e) {
			continue
		}
		needs["net "+n.Name.V] = true
		if n.Prior != nil {
			c.follow(n.Prior.Expr, definitions, needs)
		}
	}
}
