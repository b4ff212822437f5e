package spec

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/net"
	"d3p/internal/models/source"
)

// layerFields are the settings of a layer, from the table of package net.
func layerFields(k net.Kind, l *net.Layer) (fields []field) {
	for _, s := range k.Settings() {
		fields = append(fields, layerField(k, s, l))
	}
	return fields
}

// layerField is a setting of a layer: the type of its value determines its notation.
func layerField(k net.Kind, s net.Setting, l *net.Layer) field {
	switch at := s.At(l).(type) {
	case *net.Size:
		return text(s.Key, &at.Value).shown(func() string { return plainNumber(at.V) })
	case *source.Value[string]:
		return choice(s.Key, at, s.Choices...)
	case *source.Value[bool]:
		return boolean(s.Key, at)
	case *source.Value[int]:
		return count(s.Key, at, int(s.Least))
	case *source.Value[float64]:
		return value(s.Key, at, func(r *reader, e entry) source.Value[float64] { return r.numberIn(e, s.Range, s.Inside) })
	case *[]source.Value[string]:
		return texts(s.Key, at)
	case *net.Sizes:
		return list(s.Key, (*[]source.Value[int])(at), (*reader).sizes)
	case *net.PerAxis:
		return list(s.Key, (*[]source.Value[int])(at), func(r *reader, e entry) []source.Value[int] { return r.oneOrMore(e, k.Axes) })
	case *net.Padding:
		return padding(s.Key, at)
	case *net.Init:
		return initial(s.Key, at)
	case *net.LoRA:
		f := inline(s.Key, []field{count("rank", &at.Rank, 1).needed("as in lora: {rank: 8}", "lora has no rank")})
		f.stated = at.Rank.IsSet
		return f
	case *[]*net.Layer:
		return innerLayers(s.Key, at)
	}
	panic("spec: no way to read the setting " + s.Key + " of layers")
}

// innerLayers are the layers of a layer. The schema refers to its own list of layers
// there.
func innerLayers(key string, at *[]*net.Layer) field {
	return field{key: key,
		read: func(r *reader, e entry) {
			if r.shape != nil {
				r.shape.add(map[string]any{"$ref": layersReference})
				return
			}
			*at = r.layers(e)
		},
		stated: func() bool { return len(*at) > 0 },
		print: func(p *printer) {
			parts := make([]string, len(*at))
			for i, l := range *at {
				parts[i] = flowMap([]string{layerText(l)})
			}
			p.line(key, "["+strings.Join(parts, ", ")+"]")
		}}
}

// layersReference is the place of the layers' description in the schema.
const layersReference = "#/properties/nets/additionalProperties/properties/layers"

// layerText prints a layer with its settings.
func layerText(l *net.Layer) string {
	kind, _ := net.KindNamed(l.Kind.V)
	return l.Kind.V + ": " + flow(layerFields(kind, l))
}

// layersField is a list of layers, one on each line.
func layersField(key string, at *[]*net.Layer) field {
	return field{key: key,
		read:   func(r *reader, e entry) { *at = r.layers(e) },
		stated: func() bool { return len(*at) > 0 },
		print: func(p *printer) {
			p.block(key, func() {
				for _, l := range *at {
					p.item(layerText(l))
				}
			})
		}}
}

// layers reads a list of layers, each `kind: {settings}` or a kind alone.
func (r *reader) layers(e entry) []*net.Layer {
	var layers []*net.Layer
	r.items(e, func(n ast.Node) {
		if l := r.layer(entry{"a layer", r.at(n), n}); l != nil {
			layers = append(layers, l)
		}
	})
	return layers
}

// describeLayer notes a layer for the schema.
func (r *reader) describeLayer() {
	if r.keys != nil {
		return // layers have a page of their own
	}
	var alone []string
	var known []field
	for _, k := range net.Kinds() {
		if k.Alone() {
			alone = append(alone, k.Name)
		}
		known = append(known, mapping(k.Name, layerFields(k, &net.Layer{})).means(k.Maps))
	}
	r.describesChoice(alone)
	r.describeObject(known)
}

// layer reads one layer, nil after a mistake.
func (r *reader) layer(e entry) *net.Layer {
	if r.shape != nil {
		r.describeLayer()
		return nil
	}
	name, settings := source.Value[string]{}, entry{}
	if e.isMapping() {
		list, ok := r.entries(e.node, "a layer")
		if !ok || len(list) != 1 {
			if ok {
				r.Add(e.at, "start every layer with its own dash", "a layer is one kind with its settings, not %d keys", len(list))
			}
			return nil
		}
		settings = list[0]
		name = settings.name()
	} else if name = r.text(e); !name.IsSet() {
		return nil
	}
	k, ok := net.KindNamed(name.V)
	if !ok {
		r.unknownLayer(name)
		return nil
	}
	l, keys, failed := &net.Layer{Kind: name}, present{}, len(r.List)
	if settings.node != nil {
		keys = r.object(settings, k.Name, layerFields(k, l))
	}
	if keys == nil {
		return nil
	}
	if missing := k.Missing(func(key string) bool { return keys[key] }); missing != "" {
		r.Add(name.At, "as in "+k.Example, "layer %s needs %s", k.Name, missing)
	}
	if len(r.List) > failed {
		return nil
	}
	return l
}

// unknownLayer reports a layer that the language does not have.
func (r *reader) unknownLayer(name source.Value[string]) {
	if m, ok := net.MixingNamed(name.V); ok {
		r.Add(name.At, m.Instead, "layer %s mixes records: %s, so no record's gradient has a bound", name.V, m.Why)
		return
	}
	r.Add(name.At, net.Instead(name.V), "unknown layer %s", name.V)
}

// oneOrMore reads one size for all axes, or a list with one for each.
func (r *reader) oneOrMore(e entry, axes int) []source.Value[int] {
	if r.shape != nil {
		r.count(e, 1)
		r.sizes(e)
		return nil
	}
	if _, ok := e.node.(*ast.SequenceNode); !ok {
		if v := r.count(e, 1); v.IsSet() {
			return []source.Value[int]{v}
		}
		return nil
	}
	list := r.sizes(e)
	if len(list) != axes && len(list) != 1 {
		r.Add(r.at(e.node), "", "%s has %d sizes, want 1 or %d", e.key, len(list), axes)
		return nil
	}
	return list
}

// padding is `same`, `valid` or the number of positions to add on both sides.
func padding(key string, at *net.Padding) field {
	return field{key: key,
		read: func(r *reader, e entry) {
			if _, number := e.node.(*ast.IntegerNode); number || r.shape != nil {
				at.Margin = r.count(e, 0)
			}
			if _, number := e.node.(*ast.IntegerNode); !number {
				at.Mode = r.choice(e, "same", "valid")
			}
		},
		stated: func() bool { return at.Mode.IsSet() || at.Margin.IsSet() },
		print: func(p *printer) {
			if at.Mode.IsSet() {
				p.text(key, at.Mode.V)
			} else {
				p.value(key, at.Margin.V)
			}
		}}
}

// initial is `glorot`, `he`, `zero` or `{normal: sd}`.
func initial(key string, at *net.Init) field {
	normal := []field{positive("normal", &at.SD).means("standard deviation of weights and biases")}
	return field{key: key,
		read: func(r *reader, e entry) {
			if !e.isMapping() || r.shape != nil {
				at.Kind = r.choice(e, "glorot", "he", "zero")
			}
			if e.isMapping() || r.shape != nil {
				if r.object(e, e.key, normal)["normal"] {
					at.Kind = source.Value[string]{V: "normal", At: e.at}
				}
			}
		},
		stated: func() bool { return at.Kind.IsSet() },
		print: func(p *printer) {
			if at.SD.IsSet() {
				p.line(key, flow(normal))
			} else {
				p.line(key, at.Kind.V)
			}
		}}
}

// plainNumber prints a whole number unchanged and quotes other texts if necessary.
func plainNumber(s string) string {
	if _, err := strconv.Atoi(s); err == nil {
		return s
	}
	return flowText(s)
}
