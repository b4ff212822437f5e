package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/guide"
	"d3p/internal/models/net"
	"d3p/internal/models/source"
	"d3p/internal/safetensors"
	"d3p/internal/settings"
)

// netFields are the keys of a network.
func netFields(n *net.Declaration) []field {
	prior := source.Value[string]{V: net.FlatPrior}
	if n.Prior != nil {
		prior = n.Prior.Text
	}
	return []field{
		texts("input", &n.Input).needed("add `input: [dim]` with the dims of its argument", "net "+n.Name.V+" has no input").means("dims of the value that the net is called with"),
		initial("init", &n.Init).means("first weights, public draws: glorot (the default), he, zero or {normal: sd}"),
		{key: "prior", read: func(r *reader, e entry) {
			if d, ok := readDefinition(r, e); ok && d.Text.V != net.FlatPrior {
				n.Prior = d
			}
		}, stated: func() bool { return true }, print: func(p *printer) { p.text("prior", prior.V) },
			meaning: "of all weights: flat (the default) makes them a point; a distribution is a penalty under guide: delta, else a Bayesian network"},
		weightsField(&n.Weights).means("a public file that weights start from; layers that are frozen stay as it has them"),
		choice("train", &n.Train, net.Trained()...).means("all weights (the default), or biases: the others stay as the file has them"),
		layersField("layers", &n.Layers).means("see d3p help layers"),
		named("heads", &n.Heads, func(r *reader, e entry) (*net.Head, bool) {
			return &net.Head{Name: e.name(), Layers: r.layers(e)}, true
		}, func(p *printer, h *net.Head) { layersField(h.Name.V, &h.Layers).print(p) }).means("layers of each of several outputs, after the common ones; call them as net(x).head"),
	}
}

// weightsField is the public file of weights.
func weightsField(w *net.Pretrained) field {
	f := inline("weights", []field{
		text("from", &w.From).needed("as in weights: {from: backbone.safetensors}", "weights has no file").means("a file in the format safetensors, by its path from the model file"),
		choice("layout", &w.Layout, net.Layouts()...).means("who wrote it: d3p (the default), or pytorch, the state of a module"),
		aliases("names", &w.Names).means("layers that it calls otherwise, as {dense1: classifier.0}"),
	})
	f.stated = w.From.IsSet
	return f
}

// aliases is a mapping of layers to their names in a file.
func aliases(key string, at *[]net.Alias) field {
	f := named(key, at, func(r *reader, e entry) (net.Alias, bool) {
		v := r.text(e)
		return net.Alias{Layer: e.name(), InFile: v}, v.IsSet()
	}, func(*printer, net.Alias) {})
	f.print = func(p *printer) {
		var parts []field
		for _, a := range *at {
			parts = append(parts, text(a.Layer.V, &a.InFile))
		}
		p.line(key, flow(parts))
	}
	return f
}

// readPretrained reads a network with the arrays of its file.
func (b *blocks) readPretrained(r *reader, e entry) (*net.Declaration, bool) {
	n, ok := readNet(r, e)
	if w := &n.Weights; w.From.IsSet() {
		raw, err := b.load(r.relative(w.From.V))
		var said map[string]string
		if err == nil {
			w.Arrays, said, err = safetensors.Read(raw)
		}
		if strings.HasPrefix(said[safetensors.PrivacyKey], settings.NotPrivate) {
			b.spec.Warnings.Add(w.From.At, "start from a private fit, or from public records", "%s was fitted without privacy: the claim holds only if its records are public, and are not those of this fit", w.From.V)
		}
		if err != nil {
			r.Add(w.From.At, "a file in the format safetensors, by its path from the model file", "cannot read the weights of net %s: %s: %v", n.Name.V, w.From.V, err)
		}
	}
	return n, ok
}

// readNet reads one network.
func readNet(r *reader, e entry) (*net.Declaration, bool) {
	n := &net.Declaration{Name: e.name()}
	keys := r.object(e, "net "+e.key, netFields(n))
	if keys != nil && keys["input"] && !keys["layers"] && !keys["heads"] {
		r.Add(e.at, "add `layers:` with a list", "net %s has no layers", e.key)
	}
	return n, true
}

// items reads a list; read reads one element.
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

// Net finds a network by name, or nil.
func (s *Spec) Net(name string) *net.Declaration {
	for _, n := range s.Nets {
		if n.Name.V == name {
			return n
		}
	}
	return nil
}

// parsedNets reports whether the priors of all nets could be read.
func (s *Spec) parsedNets() bool {
	return !slices.ContainsFunc(s.Nets, func(n *net.Declaration) bool { return n.Prior != nil && n.Prior.Expr == nil })
}

// GuideDefault is the guide of a file that states none: networks are points.
func (s *Spec) GuideDefault() string {
	switch {
	case s.Core != nil && len(s.Core.Latent) > 0:
		return guide.AmortisedName
	case len(s.Nets) > 0:
		return guide.DeltaName
	}
	return guide.MeanFieldName
}
