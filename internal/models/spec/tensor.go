package spec

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// tensors reads `tensors:`.
func (r *reader) tensors(e entry) []*data.Tensor {
	list, ok := r.entries(e.node, "tensors")
	if !ok {
		return nil
	}
	var tensors []*data.Tensor
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
func (r *reader) tensor(e entry) *data.Tensor {
	t := &data.Tensor{Name: source.Value[string]{V: e.key, At: e.at}}
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
			r.Add(e.at, "", "tensor %s has no %s", e.key, need)
		}
	}
	switch {
	case len(t.Dims) != len(t.Shape):
		r.Add(e.at, "one size per dim", "tensor %s has %d dims and %d sizes", e.key, len(t.Dims), len(t.Shape))
		return t
	case t.Lower.IsSet() && t.Upper.IsSet() && t.Lower.V >= t.Upper.V:
		r.Add(t.Upper.At, "", "the upper bound must be above the lower bound %s", source.FormatNumber(t.Lower.V))
		return t
	case t.Size() > maxTensor || t.Size() < 1:
		r.Add(e.at, "", "tensor %s has more than %d columns", e.key, maxTensor)
		return t
	}
	r.tensorColumns(t)
	return t
}

// scaleOf reads `scale: {center:, by:}`.
func (r *reader) scaleOf(e entry) (center, by source.Value[float64]) {
	r.object(e.node, e.key, fields{
		"center": func(e entry) { center = r.number(e) },
		"by":     func(e entry) { by = r.positive(e) },
	})
	return center, by
}

// columnRange is columns("px0".."px783"): two names that end in numbers.
var columnRange = regexp.MustCompile(`^columns\("([^"]*?)(\d+)"\s*\.\.\s*"([^"]*?)(\d+)"\)$`)

// tensorColumns names the columns of a tensor.
func (r *reader) tensorColumns(t *data.Tensor) {
	prefix, first := t.Name.V, 0
	if t.From.IsSet() {
		m := columnRange.FindStringSubmatch(t.From.V)
		if m == nil || m[1] != m[3] {
			r.Add(t.From.At, `write columns("px0".."px783")`, "%s does not name the columns of tensor %s", t.From.V, t.Name.V)
			return
		}
		prefix = m[1]
		first, _ = strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[4])
		if last-first+1 != t.Size() {
			r.Add(t.From.At, "", "%s names %d columns, but tensor %s has %d values", t.From.V, max(0, last-first+1), t.Name.V, t.Size())
			return
		}
	}
	for i := range t.Size() {
		t.Columns = append(t.Columns, &data.Column{
			Name: source.Value[string]{V: prefix + strconv.Itoa(first+i), At: t.Name.At}, Type: source.Value[string]{V: data.Real, At: t.Name.At},
			Lower: t.Lower, Upper: t.Upper, Center: t.Center, By: t.By, Source: t.Source,
			Missing: data.Missing{Rule: data.MissingReject},
		})
	}
}

// binarize reads `binarize: {column:, mode:}`, one or a list of them, after the
// tensors.
func (r *reader) binarize(e entry, d *data.Data) {
	one := func(e entry) {
		var column, mode source.Value[string]
		keys := r.object(e.node, "binarize", fields{
			"column": func(e entry) { column = r.text(e) },
			"mode":   func(e entry) { mode = r.choice(e, data.Stochastic, data.Threshold) },
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
			r.Add(column.At, spell.Suggest(column.V, "tensors", names), "no tensor %s", column.V)
			return
		}
		t.Binarize = source.Value[string]{V: mode.Or(data.Stochastic), At: column.At}
		if len(t.Columns) == 0 {
			return
		}
		center, by := t.Columns[0].Scale()
		if (t.Lower.V-center)/by < 0 || (t.Upper.V-center)/by > 1 {
			r.Add(column.At, fmt.Sprintf("write `scale: {center: %s, by: %s}`", source.FormatNumber(t.Lower.V), source.FormatNumber(t.Upper.V-t.Lower.V)),
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
func renderTensors(p *printer, d *data.Data) {
	if len(d.Tensors) == 0 {
		return
	}
	p.block("tensors", func() {
		for _, t := range d.Tensors {
			p.block(t.Name.V, func() { renderTensor(p, t) })
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

// renderTensor prints the declaration of one tensor.
func renderTensor(p *printer, t *data.Tensor) {
	first, last := t.Columns[0].Name.V, t.Columns[len(t.Columns)-1].Name.V
	p.line("from", fmt.Sprintf(`columns("%s".."%s")`, first, last))
	p.line("dims", flowList(t.Dims, func(v source.Value[string]) string { return v.V }))
	p.line("shape", flowList(t.Shape, func(v source.Value[int]) string { return strconv.Itoa(v.V) }))
	p.line("lower", source.FormatNumber(t.Lower.V))
	p.line("upper", source.FormatNumber(t.Upper.V))
	center, by := t.Columns[0].Scale()
	p.line("scale", "{center: "+source.FormatNumber(center)+", by: "+source.FormatNumber(by)+"}")
	if t.Source.IsSet() {
		p.text("source", t.Source.V)
	}
}
