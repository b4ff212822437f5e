package spec

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/guide"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// Net is a network: layers from a value with the dims of Input to its output,
// or to one output per head. Expressions call it: `net(x)`, `encoder(x).loc`.
type Net struct {
	Name   source.Value[string]
	Input  []source.Value[string] // dims
	Init   Init                   // of layers that state none
	Prior  *core.Definition       // of all weights; nil: flat
	Layers []*Layer
	Heads  []*Head // after the layers; none: one output
}

// Head is one of several outputs of a net.
type Head struct {
	Name   source.Value[string]
	Layers []*Layer
}

// Layer is one step of a net: its kind and its settings.
type Layer struct {
	Kind       source.Value[string]
	Units      source.Value[string] // a number, or the dim that the output has
	Activation source.Value[string]
	Init       Init
	Bias       source.Value[bool]
	Dims       []source.Value[string] // of reshape
	Shape      []source.Value[int]    // of reshape

	// of convolutions and pooling
	Filters        source.Value[string] // as Units
	Kernel, Stride []source.Value[int]  // one for all axes, or one for each
	Padding        source.Value[string] // same or valid
	Margin         source.Value[int]    // padding as a number

	Levels   source.Value[string]  // of embeddings, as Units
	Epsilon  source.Value[float64] // of normalisations
	Affine   source.Value[bool]
	Trailing source.Value[int] // of layer_norm: the last dims
	Groups   source.Value[int]
	Rate     source.Value[float64] // of dropout
	Layers   []*Layer              // of residual
	Shortcut []*Layer
}

// Init says how weights start: public random numbers, which no record moves.
type Init struct {
	Kind source.Value[string]  // glorot, he, normal or zero
	SD   source.Value[float64] // of normal: of weights and biases
}

// nets reads `nets:`.
func (r *reader) nets(e entry) []*Net {
	list, ok := r.entries(e.node, "nets")
	if !ok {
		return nil
	}
	var nets []*Net
	for _, e := range list {
		if e.node != nil {
			nets = append(nets, r.net(e))
		}
	}
	return nets
}

// net reads one network.
func (r *reader) net(e entry) *Net {
	n := &Net{Name: source.Value[string]{V: e.key, At: e.at}}
	keys := r.object(e.node, "net "+e.key, fields{
		"input":  func(e entry) { n.Input = r.texts(e) },
		"init":   func(e entry) { n.Init = r.init(e) },
		"prior":  func(e entry) { n.Prior = r.definition(e) },
		"layers": func(e entry) { n.Layers = r.layers(e) },
		"heads":  func(e entry) { n.Heads = r.heads(e) },
	})
	switch {
	case keys == nil:
	case !keys["input"]:
		r.Add(e.at, "add `input: [dim]` with the dims of what it is called with", "net %s has no input", e.key)
	case !keys["layers"] && !keys["heads"]:
		r.Add(e.at, "add `layers:` with a list", "net %s has no layers", e.key)
	}
	if n.Prior != nil && n.Prior.Text.V == flatPrior {
		n.Prior = nil
	}
	return n
}

// flatPrior is the improper prior of weights that are only points.
const flatPrior = "flat"

// heads reads `heads:`, a mapping of names to lists of layers.
func (r *reader) heads(e entry) []*Head {
	list, ok := r.entries(e.node, "heads")
	if !ok {
		return nil
	}
	var heads []*Head
	for _, e := range list {
		if e.node != nil {
			heads = append(heads, &Head{Name: source.Value[string]{V: e.key, At: e.at}, Layers: r.layers(e)})
		}
	}
	return heads
}

// layers reads a list of layers, each `kind: {settings}` or a kind alone.
func (r *reader) layers(e entry) []*Layer {
	var layers []*Layer
	r.items(e, func(n ast.Node) {
		if l := r.layer(entry{"a layer", r.at(n), n}); l != nil {
			layers = append(layers, l)
		}
	})
	return layers
}

// layer reads one layer, nil after a mistake.
func (r *reader) layer(e entry) *Layer {
	kinds := layerKinds()
	if r.shape != nil {
		known := make(fields)
		for _, k := range kinds {
			known[k.name] = func(e entry) { r.object(e.node, k.name, k.fields(r, &Layer{})) }
		}
		r.describesChoice(plainLayers())
		r.describeObject(known)
		return nil
	}
	kind, settings := e, entry{}
	if _, ok := e.node.(*ast.MappingNode); ok {
		list, ok := r.entries(e.node, "a layer")
		if !ok || len(list) != 1 {
			if ok {
				r.Add(e.at, "start every layer with its own dash", "a layer is one kind with its settings, not %d keys", len(list))
			}
			return nil
		}
		settings = list[0]
		kind = entry{settings.key, settings.at, nil}
	} else if v := r.text(e); v.IsSet() {
		kind = entry{v.V, v.At, nil}
	} else {
		return nil
	}
	for _, k := range kinds {
		if k.name != kind.key {
			continue
		}
		l := &Layer{Kind: source.Value[string]{V: kind.key, At: kind.at}}
		keys := present{}
		if settings.node != nil {
			keys = r.object(settings.node, kind.key, k.fields(r, l))
		}
		for _, need := range k.needs {
			if keys != nil && !keys[need] {
				r.Add(kind.at, "", "layer %s needs %s", kind.key, need)
				return nil
			}
		}
		return l
	}
	for _, m := range mixingLayers() {
		if m.name == kind.key {
			r.Add(kind.at, m.instead, "layer %s mixes records: %s, so no record's gradient can be bounded by itself", m.name, m.why)
			return nil
		}
	}
	r.Add(kind.at, spell.Suggest(kind.key, "layers", LayerNames()), "unknown layer %s", kind.key)
	return nil
}

// init reads `glorot`, `he`, `zero` or `{normal: sd}`.
func (r *reader) init(e entry) (i Init) {
	if r.shape != nil {
		r.choice(e, "glorot", "he", "zero")
		r.describeObject(fields{"normal": func(e entry) { r.positive(e) }})
		return i
	}
	if _, ok := e.node.(*ast.MappingNode); !ok {
		i.Kind = r.choice(e, "glorot", "he", "zero")
		return i
	}
	r.object(e.node, e.key, fields{"normal": func(e entry) {
		i.Kind, i.SD = source.Value[string]{V: "normal", At: e.at}, r.positive(e)
	}})
	return i
}

// items reads a list whose elements read reads.
func (r *reader) items(e entry, read func(n ast.Node)) {
	if r.shape != nil {
		outer := r.shape
		r.shape = &shape{}
		read(&ast.StringNode{})
		items := r.shape.schema()
		r.shape = outer
		r.shape.add(map[string]any{"type": "array", "items": items})
		return
	}
	s, ok := e.node.(*ast.SequenceNode)
	if !ok {
		r.Add(r.at(e.node), "", "%s must be a list, not %s", e.key, describe(e.node))
		return
	}
	for _, n := range s.Values {
		read(n)
	}
}

// sizes reads a list of positive whole numbers.
func (r *reader) sizes(e entry) (list []source.Value[int]) {
	for _, v := range r.texts(e) {
		n, err := strconv.Atoi(v.V)
		if err != nil || n < 1 {
			r.Add(v.At, "", "a size is a whole number of at least 1, not %s", v.V)
			continue
		}
		list = append(list, source.Value[int]{V: n, At: v.At})
	}
	return list
}

// Net finds a network by name; nil when there is none.
func (s *Spec) Net(name string) *Net {
	for _, n := range s.Nets {
		if n.Name.V == name {
			return n
		}
	}
	return nil
}

// parsedNets reports whether the priors of all nets could be read.
func (s *Spec) parsedNets() bool {
	for _, n := range s.Nets {
		if n.Prior != nil && n.Prior.Expr == nil {
			return false
		}
	}
	return true
}

// Calls reports whether an expression calls the net.
func (n *Net) Calls(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		c, ok := e.(*expr.Call)
		found = found || ok && c.Func == n.Name.V
		return !found
	})
	return found
}

// guideDefault is the guide of a file that states none: networks are points.
func (s *Spec) guideDefault() string {
	switch {
	case s.Core != nil && len(s.Core.Latent) > 0:
		return guide.AmortisedName
	case len(s.Nets) > 0:
		return "delta"
	}
	return "mean_field"
}
