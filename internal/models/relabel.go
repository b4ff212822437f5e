package models

import (
	"slices"

	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
	"d3p/internal/spell"
)

// Relabelling gives the components of a mixture an order: it renames those of every draw so
// that one parameter rises from the first to the last. It undoes the changes of places
// between draws. Stephens 2000, Journal of the Royal Statistical Society B 62(4).
type Relabelling struct {
	keys   []int // places of the rising values, in the first block
	blocks []relabelled
	order  []int     // space for one per component
	moved  []float64 // and for the largest block
}

// relabelled is a parameter or quantity with an entry for every component.
type relabelled struct {
	name       string
	derived    bool // its place is among the quantities, not the parameters
	at         int
	sizes      []int  // of its dims
	components []bool // which of them are the components'
}

// Relabelling is the model file's order of components; nil if it has none. It has buffers,
// so only one caller may use it at a time.
func (m *Model) Relabelling() *Relabelling {
	c := newCompiler(m.Spec, m.Core)
	c.dimensions()
	return c.relabelling(m.Params, m.Derived)
}

// relabelling checks `output: relabel:` against the parameters and quantities.
func (c *compiler) relabelling(params, derived []Param) *Relabelling {
	want := &c.spec.Output.Relabel
	if !want.OrderBy.IsSet() {
		return nil
	}
	var names []string
	for i := range params {
		names = append(names, params[i].Name)
	}
	by := slices.Index(names, want.OrderBy.V)
	if by < 0 {
		c.errs.Add(want.OrderBy.At, spell.Question(want.OrderBy.V, names, ""), "no parameter %s to order by", want.OrderBy.V)
		return nil
	}
	key := &params[by]
	dim, label := c.componentDim(key, want)
	if dim < 0 {
		return nil
	}
	r := &Relabelling{}
	stride, skip := 1, 0
	for d := len(key.Dims) - 1; d >= 0; d-- {
		size := len(key.Dims[d].Labels)
		if d == dim {
			for k := range size {
				r.keys = append(r.keys, k*stride)
			}
		} else {
			skip += label * stride
		}
		stride *= size
	}
	for k := range r.keys {
		r.keys[k] += skip
	}
	r.order = make([]int, len(r.keys))
	r.add(key, false, key.Dims[dim].Name)
	for i := range params {
		if i != by {
			r.add(&params[i], false, key.Dims[dim].Name)
		}
	}
	for i := range derived {
		r.add(&derived[i], true, key.Dims[dim].Name)
	}
	return r
}

// componentDim is the place of the components' dim among those of by, and the place of the
// declared label in the other dim; -1 after a mistake.
func (c *compiler) componentDim(by *Param, want *spec.Relabel) (dim, label int) {
	switch {
	case len(by.Dims) == 1 && !want.Dim.IsSet():
		return 0, 0
	case len(by.Dims) == 2 && want.Dim.IsSet():
		for other := range 2 {
			if label = slices.Index(by.Dims[other].Labels, want.Dim.V); label >= 0 {
				return 1 - other, label
			}
		}
		labels := slices.Concat(by.Dims[0].Labels, by.Dims[1].Labels)
		c.errs.Add(want.Dim.At, spell.Question(want.Dim.V, labels, ""), "no dim of %s has the label %s", by.Name, want.Dim.V)
	case len(by.Dims) == 2:
		c.errs.Add(want.OrderBy.At, "add `dim: "+by.Dims[1].Labels[0]+"`", "%s has two dims: name the label of the other one that orders the components", by)
	default:
		c.errs.Add(want.OrderBy.At, "order by a parameter with the dim of the components, and at most one more", "%s cannot order components", by)
	}
	return -1, 0
}

// add notes a parameter that has the dim of the components.
func (r *Relabelling) add(p *Param, derived bool, dim string) {
	b := relabelled{name: p.Name, derived: derived, at: p.At}
	if derived {
		b.at = p.Offset
	}
	for _, d := range p.Dims {
		b.sizes = append(b.sizes, len(d.Labels))
		b.components = append(b.components, expr.Unprimed(d.Name) == dim)
	}
	if slices.Contains(b.components, true) {
		r.blocks = append(r.blocks, b)
		if p.ConstrainedSize > len(r.moved) {
			r.moved = make([]float64, p.ConstrainedSize)
		}
	}
}

// Moves reports whether the parameter or quantity has entries by component.
func (r *Relabelling) Moves(name string) bool {
	return slices.ContainsFunc(r.blocks, func(b relabelled) bool { return b.name == name })
}

// Apply renames the components of one draw: the values of Constrain and of
// Quantities.
func (r *Relabelling) Apply(constrained, quantities []float64) {
	values := func(b *relabelled) []float64 {
		if b.derived {
			return quantities[b.at:]
		}
		return constrained[b.at:]
	}
	by := values(&r.blocks[0])
	for k := range r.order {
		r.order[k] = k
	}
	slices.SortStableFunc(r.order, func(a, b int) int {
		switch x, y := by[r.keys[a]], by[r.keys[b]]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for i := range r.blocks {
		b := &r.blocks[i]
		x, size := values(b), 1
		for _, n := range b.sizes {
			size *= n
		}
		for e := range size {
			r.moved[e] = x[b.source(e, r.order)]
		}
		copy(x[:size], r.moved)
	}
}

// source is the place from which element e of the renamed block comes.
func (b *relabelled) source(e int, order []int) int {
	from, stride := 0, 1
	for d := len(b.sizes) - 1; d >= 0; d-- {
		at := e % b.sizes[d]
		e /= b.sizes[d]
		if b.components[d] {
			at = order[at]
		}
		from += at * stride
		stride *= b.sizes[d]
	}
	return from
}
