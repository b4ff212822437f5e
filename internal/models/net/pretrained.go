package net

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"d3p/internal/models/source"
	"d3p/internal/safetensors"
	"d3p/internal/spell"
)

// Pretrained is the public file that the weights of a net start from.
type Pretrained struct {
	From   source.Value[string]
	Layout source.Value[string] // one of Layouts
	Names  []Alias
	Arrays map[string]safetensors.Array // of the file, by name
}

// Alias is a layer that the file calls otherwise.
type Alias struct{ Layer, InFile source.Value[string] }

// The layouts of files: d3p's own, and the state of a PyTorch module.
const (
	LayoutD3P     = "d3p"
	LayoutPyTorch = "pytorch"
)

// Layouts names the layouts.
func Layouts() []string { return []string{LayoutD3P, LayoutPyTorch} }

// The parts of a net that training changes.
const (
	TrainAll    = "all"
	TrainBiases = "biases" // Ben Zaken et al. 2022, arXiv:2106.10199
)

// Trained names the choices of weights that a net trains.
func Trained() []string { return []string{TrainAll, TrainBiases} }

// arrays finds an array of a layer by its kind ("weight") in a file.
type arrays func(kind string) (safetensors.Array, bool)

// layout makes an array of weights from arrays of a PyTorch file; false if the file lacks
// one. An array without a layout has PyTorch's name and order.
type layout func(file arrays) (safetensors.Array, bool)

// transposedWeight is the transpose of a weight matrix of the file; another weight stays.
func transposedWeight(file arrays) (safetensors.Array, bool) {
	a, ok := file("weight")
	if !ok || len(a.Shape) != 2 {
		return a, ok
	}
	rows, columns := a.Shape[0], a.Shape[1]
	t := safetensors.Array{Name: a.Name, Shape: []int{columns, rows}, Values: make([]float64, len(a.Values))}
	for i := range rows {
		for j := range columns {
			t.Values[j*rows+i] = a.Values[i*columns+j]
		}
	}
	return t, true
}

// summedBias is bias_ih + bias_hh of a recurrent cell. Its last own elements are those of
// bias_ih alone: the cell keeps their bias_hh as a separate array.
func summedBias(suffix string, own int) layout {
	return func(file arrays) (safetensors.Array, bool) {
		a, ok := file("bias_ih" + suffix)
		b, both := file("bias_hh" + suffix)
		if !ok || !both || len(a.Values) != len(b.Values) {
			return a, ok
		}
		sum := safetensors.Array{Name: a.Name, Shape: a.Shape, Values: slices.Clone(a.Values)}
		for i := range max(0, len(sum.Values)-own) {
			sum.Values[i] += b.Values[i]
		}
		return sum, true
	}
}

// ownBias is the last units of bias_hh.
func ownBias(suffix string, units int) layout {
	return func(file arrays) (safetensors.Array, bool) {
		a, ok := file("bias_hh" + suffix)
		if !ok || len(a.Values) < units {
			return a, ok
		}
		return safetensors.Array{Name: a.Name, Shape: []int{units}, Values: a.Values[len(a.Values)-units:]}, true
	}
}

// pretrained gives the weights their values in the file, and notes the layers that it
// lacks.
func (p *plan) pretrained(n *Declaration) {
	from := n.Weights.From
	if !from.IsSet() {
		for _, w := range p.net.Weights {
			if w.Frozen {
				p.errs.Add(w.At, "add `weights: {from: FILE.safetensors}` to the net", "%s is frozen, but the net has no file to take it from", w.Name)
				return
			}
		}
		return
	}
	if n.Weights.Arrays == nil {
		return // reported
	}
	lacks := make(map[string]bool)
	found, used := false, make(map[string]bool)
	for i := range p.net.Weights {
		w := &p.net.Weights[i]
		if w.adapter {
			continue
		}
		values, ok := p.fromFile(n, w, used)
		switch {
		case len(p.errs) > 0:
			return
		case ok:
			w.Values, found = values, true
		case used[w.within(p.net.Name)] && !w.isBias():
			p.errs.Add(n.Weights.From.At, "", "%s has no array of %s under the name that `names:` gives it%s", from.V, w.Name, inFile(n.Weights.Arrays))
			return
		case w.Frozen:
			p.errs.Add(w.At, "rename the layer by `weights: {names: {"+w.within(p.net.Name)+": NAME}}`", "%s has no array of %s, which is frozen%s", from.V, w.Name, inFile(n.Weights.Arrays))
			return
		default:
			lacks[w.layer] = true
		}
	}
	for _, a := range n.Weights.Names {
		if !used[a.Layer.V] {
			var layers []string
			for _, w := range p.net.Weights {
				layers = append(layers, w.within(p.net.Name))
			}
			p.errs.Add(a.Layer.At, spell.Question(a.Layer.V, layers, ""), "net %s has no layer %s with weights", p.net.Name, a.Layer.V)
		}
	}
	if !found && len(p.errs) == 0 {
		p.errs.Add(from.At, "rename layers by `weights: {names: {LAYER: NAME}}`", "no array of %s belongs to net %s%s", from.V, p.net.Name, inFile(n.Weights.Arrays))
	}
	for _, l := range p.net.Layers {
		if lacks[l.Name] {
			p.net.Notes = append(p.net.Notes, fmt.Sprintf("%s is not in %s: its weights start at random", l.Name, from.V))
		}
	}
}

// fromFile are the values of an array of weights in the file; false if the file lacks them.
// used notes the aliases that apply.
func (p *plan) fromFile(n *Declaration, w *Weight, used map[string]bool) ([]float64, bool) {
	within := w.within(p.net.Name)
	names := []string{w.layer, within}
	for _, a := range n.Weights.Names {
		if a.Layer.V == within {
			names = []string{a.InFile.V}
			used[within] = true
		}
	}
	for _, name := range names {
		file := func(kind string) (safetensors.Array, bool) {
			a, ok := n.Weights.Arrays[name+"."+kind]
			return a, ok
		}
		a, ok := file(w.kind)
		if n.Weights.Layout.V == LayoutPyTorch && w.torch != nil {
			a, ok = w.torch(file)
		}
		if !ok {
			continue
		}
		if want := w.Shape.Sizes(); !slices.Equal(a.Shape, want) {
			hint := ""
			if n.Weights.Layout.V != LayoutPyTorch {
				hint = "write `layout: pytorch` if PyTorch wrote the file"
			}
			p.errs.Add(n.Weights.From.At, hint, "%s of %s is %v, but %s is %v", a.Name, n.Weights.From.V, a.Shape, w.Name, want)
			return nil, false
		}
		return a.Values, true
	}
	return nil, false
}

// within is the layer's name inside the net: dense1 of net.dense1.
func (w *Weight) within(net string) string { return strings.TrimPrefix(w.layer, net+".") }

// inFile lists the first layers of a file, for messages.
func inFile(file map[string]safetensors.Array) string {
	const shown = 6
	var names []string
	for name := range file {
		names = append(names, strings.TrimSuffix(name, path.Ext(name)))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) == 0:
		return ": it has no arrays"
	case len(names) > shown:
		names = append(names[:shown], "...")
	}
	return "; it has " + strings.Join(names, ", ")
}
