package spec

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// Tensor declares columns that together are one array: an image, a spectrum.
// All share their bounds and scale.
type Tensor struct {
	Name         Value[string]
	From         Value[string]   // columns("px0".."px783"); unset: columns("NAME0".."NAMEn")
	Dims         []Value[string] // of the array; they are dims of the model
	Shape        []Value[int]
	Lower, Upper Value[float64]
	Center, By   Value[float64]
	Source       Value[string]
	// Binarize turns every value x in [0, 1] into 0 or 1: stochastic is 1 with
	// probability x, drawn anew in every step; threshold is 1 from a half on.
	Binarize Value[string]

	columns []*Column // in row-major order
}

// The ways to binarise.
const (
	Stochastic = "stochastic"
	Threshold  = "threshold"
)

// Columns lists the columns in row-major order.
func (t *Tensor) Columns() []*Column { return t.columns }

// Size is the number of columns.
func (t *Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s.V
	}
	return n
}

// Tensor returns the tensor of that name, or nil.
func (d *Data) Tensor(name string) *Tensor {
	for _, t := range d.Tensors {
		if t.Name.V == name {
			return t
		}
	}
	return nil
}

// AllColumns lists the columns of the data file that the model may read: the
// declared ones, then those of each tensor.
func (d *Data) AllColumns() []*Column {
	all := d.Columns[:len(d.Columns):len(d.Columns)]
	for _, t := range d.Tensors {
		all = append(all, t.columns...)
	}
	return all
}

// tensors reads `tensors:`.
func (r *reader) tensors(e entry) []*Tensor {
	list, ok := r.entries(e.node, "tensors")
	if !ok {
		return nil
	}
	var tensors []*Tensor
	for _, e := range list {
		if e.node != nil {
			tensors = append(tensors, r.tensor(e))
		}
	}
	return tensors
}

// maxTensor bounds the columns of a tensor, so that a mistake in its shape
// cannot exhaust memory.
const maxTensor = 1 << 20

// tensor reads one array of columns.
func (r *reader) tensor(e entry) *Tensor {
	t := &Tensor{Name: Value[string]{e.key, e.at}}
	keys := r.object(e.node, "tensor "+e.key, fields{
		"from":   func(e entry) { t.From = r.text(e) },
		"dims":   func(e entry) { t.Dims = r.texts(e); r.unique("dim", t.Dims) },
		"shape":  func(e entry) { t.Shape = r.sizes(e) },
		"lower":  func(e entry) { t.Lower = r.number(e) },
		"upper":  func(e entry) { t.Upper = r.number(e) },
		"scale":  func(e entry) { t.Center, t.By = r.scaleOf(e) },
		"source": func(e entry) { t.Source = r.text(e) },
	})
	if keys == nil {
		return t
	}
	for _, need := range []string{"dims", "shape", "lower", "upper"} {
		if !keys[need] {
			r.add(e.at, "", "tensor %s has no %s", e.key, need)
		}
	}
	switch {
	case len(t.Dims) != len(t.Shape):
		r.add(e.at, "one size per dim", "tensor %s has %d dims and %d sizes", e.key, len(t.Dims), len(t.Shape))
		return t
	case t.Lower.IsSet() && t.Upper.IsSet() && t.Lower.V >= t.Upper.V:
		r.add(t.Upper.At, "", "the upper bound must be above the lower bound %s", formatNumber(t.Lower.V))
		return t
	case t.Size() > maxTensor || t.Size() < 1:
		r.add(e.at, "", "tensor %s has more than %d columns", e.key, maxTensor)
		return t
	}
	r.tensorColumns(t)
	return t
}

// scaleOf reads `scale: {center:, by:}`.
func (r *reader) scaleOf(e entry) (center, by Value[float64]) {
	r.object(e.node, e.key, fields{
		"center": func(e entry) { center = r.number(e) },
		"by":     func(e entry) { by = r.positive(e) },
	})
	return center, by
}

// columnRange is columns("px0".."px783"): two names that end in numbers.
var columnRange = regexp.MustCompile(`^columns\("([^"]*?)(\d+)"\s*\.\.\s*"([^"]*?)(\d+)"\)$`)

// tensorColumns names the columns of a tensor.
func (r *reader) tensorColumns(t *Tensor) {
	prefix, first := t.Name.V, 0
	if t.From.IsSet() {
		m := columnRange.FindStringSubmatch(t.From.V)
		if m == nil || m[1] != m[3] {
			r.add(t.From.At, `write columns("px0".."px783")`, "%s does not name the columns of tensor %s", t.From.V, t.Name.V)
			return
		}
		prefix = m[1]
		first, _ = strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[4])
		if last-first+1 != t.Size() {
			r.add(t.From.At, "", "%s names %d columns, but tensor %s has %d values", t.From.V, max(0, last-first+1), t.Name.V, t.Size())
			return
		}
	}
	for i := range t.Size() {
		t.columns = append(t.columns, &Column{
			Name: Value[string]{prefix + strconv.Itoa(first+i), t.Name.At}, Type: Value[string]{Real, t.Name.At},
			Lower: t.Lower, Upper: t.Upper, Center: t.Center, By: t.By, Source: t.Source,
			Missing: Missing{Rule: MissingReject},
		})
	}
}

// binarize reads `binarize: {column:, mode:}`, one or a list of them, after the
// tensors.
func (r *reader) binarize(e entry, d *Data) {
	one := func(e entry) {
		var column, mode Value[string]
		keys := r.object(e.node, "binarize", fields{
			"column": func(e entry) { column = r.text(e) },
			"mode":   func(e entry) { mode = r.choice(e, Stochastic, Threshold) },
		})
		if keys == nil || !column.IsSet() {
			return
		}
		t := d.Tensor(column.V)
		if t == nil {
			var names []string
			for _, t := range d.Tensors {
				names = append(names, t.Name.V)
			}
			r.add(column.At, suggest(column.V, "tensors", names), "no tensor %s", column.V)
			return
		}
		t.Binarize = Value[string]{mode.Or(Stochastic), column.At}
		if len(t.columns) == 0 {
			return
		}
		center, by := t.columns[0].Scale()
		if (t.Lower.V-center)/by < 0 || (t.Upper.V-center)/by > 1 {
			r.add(column.At, fmt.Sprintf("write `scale: {center: %s, by: %s}`", formatNumber(t.Lower.V), formatNumber(t.Upper.V-t.Lower.V)),
				"the scaled values of tensor %s are no probabilities", column.V)
		}
	}
	if _, ok := e.node.(*ast.SequenceNode); ok || r.shape != nil {
		r.items(e, func(n ast.Node) { one(entry{e.key, e.at, n}) })
	}
	if _, ok := e.node.(*ast.SequenceNode); !ok {
		one(e)
	}
}

// renderTensors prints the tensors and how they are binarised.
func renderTensors(p *printer, d *Data) {
	if len(d.Tensors) == 0 {
		return
	}
	p.block("tensors", func() {
		for _, t := range d.Tensors {
			p.block(t.Name.V, func() { t.render(p) })
		}
	})
	var modes []string
	for _, t := range d.Tensors {
		if t.Binarize.IsSet() {
			modes = append(modes, flowMap([]string{"column: " + flowText(t.Name.V), "mode: " + t.Binarize.V}))
		}
	}
	if len(modes) > 0 {
		p.block("binarize", func() {
			for _, m := range modes {
				p.item(m)
			}
		})
	}
}

// render prints the declaration of one tensor.
func (t *Tensor) render(p *printer) {
	first, last := t.columns[0].Name.V, t.columns[len(t.columns)-1].Name.V
	p.line("from", fmt.Sprintf(`columns("%s".."%s")`, first, last))
	p.line("dims", flowList(t.Dims, func(v Value[string]) string { return v.V }))
	p.line("shape", flowList(t.Shape, func(v Value[int]) string { return strconv.Itoa(v.V) }))
	p.line("lower", formatNumber(t.Lower.V))
	p.line("upper", formatNumber(t.Upper.V))
	center, by := t.columns[0].Scale()
	p.line("scale", "{center: "+formatNumber(center)+", by: "+formatNumber(by)+"}")
	if t.Source.IsSet() {
		p.text("source", t.Source.V)
	}
}
