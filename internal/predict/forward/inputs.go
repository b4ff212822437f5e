package forward

import (
	"fmt"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/onnx"
	"d3p/internal/predict"
)

// place is the place of an encoded column: an element of a value.
type place struct {
	in value
	at int
}

// inputs writes the encoding of a record: an input for each column of the data file and
// each tensor that a prediction reads, in the unit of the file, with one number for each
// record, or the numbers of the tensor. A category is the number of its level from 0, a
// text is its tokens. A missing value (NaN, no level) is imputed, or rejects the record.
func (l *lowering) inputs(m *models.Model) error {
	e := predict.EncodingOf(m)
	l.columns = make([]place, m.Predict.K)
	tensors := make(map[string]*data.Tensor) // by columns
	for _, t := range m.Spec.Data.Tensors {
		if t.Sequence() {
			tensors[t.From.V] = t
		}
		for _, c := range t.Columns {
			tensors[c.HeaderName()] = t
		}
	}
	columns := make(map[string]string) // inputs by column
	done := make(map[*data.Tensor]bool)
	for _, f := range e.Fields {
		if t := tensors[f.Column]; t != nil {
			if !done[t] {
				done[t] = true
				if err := l.tensor(t, f, m.Encoding.Fields); err != nil {
					return err
				}
			}
			continue
		}
		if columns[f.Column] == "" {
			columns[f.Column] = l.column(f)
		}
		l.field(f, columns[f.Column])
	}
	if l.batch == "" {
		return fmt.Errorf("no prediction reads a column")
	}
	return nil
}

// column makes the input of a column.
func (l *lowering) column(f encoding.Field) string {
	t := onnx.Float
	if f.Levels != nil {
		t = onnx.Int64
		l.levels(f.Column, f.Levels)
	}
	l.to.Input(f.Column, t)
	l.begin(f.Column)
	if f.Levels != nil {
		return l.real(f.Column)
	}
	if f.Type == data.Date && f.Origin != 0 {
		return l.to.Node("Sub", nil, f.Column, l.number(float64(f.Origin)))
	}
	return f.Column
}

// begin notes the number of records of the first input.
func (l *lowering) begin(input string) {
	if l.batch == "" {
		l.batch = l.to.Node("Slice", nil, l.to.Node("Shape", nil, input), l.ints([]int{0}), l.ints([]int{1}))
	}
}

// tensor makes the input of a tensor and its encoded columns, which are neighbours.
func (l *lowering) tensor(t *data.Tensor, f encoding.Field, all []encoding.Field) error {
	first := f.Out[0]
	for _, g := range all {
		for _, c := range t.Columns {
			if g.Column == c.HeaderName() {
				first = min(first, g.Out[0])
			}
		}
	}
	dims := make([]int, len(t.Shape))
	for i, s := range t.Shape {
		dims[i] = s.V
	}
	kind, input := onnx.Float, t.Name.V
	if f.Kind == encoding.Tokens {
		kind = onnx.Int64
		if f.Vocabulary != nil {
			l.levels(input, append([]string{"(padding)", "(unknown)"}, f.Vocabulary...))
		}
	}
	l.to.Input(input, kind, dims...)
	l.begin(input)
	var x string
	switch f.Kind {
	case encoding.Tokens:
		x = l.real(input)
		none := l.to.Node("Or", nil, l.to.Node("Less", nil, x, l.number(0)), l.to.Node("Greater", nil, x, l.number(float64(t.TokenLevels()-1))))
		x = l.to.Node("Where", nil, none, l.number(data.Unknown), x)
	case encoding.Numeric:
		x = l.numeric(f, input, dims)
	default:
		return fmt.Errorf("tensor %s is binarised by random draws, and a file of ONNX draws nothing", input)
	}
	v := value{name: x, dims: dims}
	for i := range t.Columns {
		l.columns[first+i] = place{v, i}
	}
	return nil
}

// field writes the encoded columns of a field of one column.
func (l *lowering) field(f encoding.Field, x string) {
	put := func(at int, name string) {
		if at >= 0 {
			l.columns[at] = place{in: value{name: name}}
		}
	}
	switch f.Kind {
	case encoding.Numeric:
		put(f.Out[0], l.numeric(f, x, nil))
	case encoding.MissingIndicator:
		if f.Levels != nil {
			put(f.Out[0], l.real(l.absent(f, x)))
		} else {
			put(f.Out[0], l.real(l.missing(x)))
		}
	default:
		x = l.level(f, x)
		if f.Kind == encoding.LevelCode {
			put(f.Out[0], x)
			return
		}
		for k, at := range f.Out {
			put(at, l.real(l.to.Node("Equal", nil, x, l.number(float64(k)))))
		}
	}
}

// missing is true where a number is NaN or infinite, because x - x is then NaN.
func (l *lowering) missing(x string) string {
	return l.to.Node("IsNaN", nil, l.to.Node("Sub", nil, x, x))
}

// reject marks the records in which a condition on values of these dims holds.
func (l *lowering) reject(condition string, dims []int) {
	if len(dims) > 0 {
		axes := make([]int, len(dims))
		for i := range axes {
			axes[i] = i + 1
		}
		any := l.to.Node("ReduceMax", onnx.Attributes{"axes": axes, "keepdims": 0}, l.real(condition))
		condition = l.to.Node("Cast", onnx.Attributes{"to": int(onnx.Bool)}, any)
	}
	if l.rejected != "" {
		condition = l.to.Node("Or", nil, l.rejected, condition)
	}
	l.rejected = condition
}

// numeric is (transform(clamp(x)) - center)/scale.
func (l *lowering) numeric(f encoding.Field, x string, dims []int) string {
	missing := l.missing(x)
	instead := f.Impute
	if f.Missing == encoding.MissingReject {
		l.reject(missing, dims)
		if instead = 0; f.Lower != nil {
			instead = *f.Lower
		}
	}
	x = l.to.Node("Where", nil, missing, l.number(instead), x)
	if f.Lower != nil && f.Upper != nil {
		inside := l.to.Node("Clip", nil, x, l.number(*f.Lower), l.number(*f.Upper))
		if f.RejectOutside {
			l.reject(l.to.Node("Not", nil, l.to.Node("Equal", nil, x, inside)), dims)
		}
		x = inside
	}
	one := func() string { return l.number(1) }
	switch f.Transform {
	case "log":
		x = l.to.Node("Log", nil, x)
	case "log1p":
		x = l.to.Node("Log", nil, l.to.Node("Add", nil, x, one()))
	case "sqrt":
		x = l.to.Node("Sqrt", nil, x)
	case "logit":
		x = l.to.Node("Log", nil, l.to.Node("Div", nil, x, l.to.Node("Sub", nil, one(), x)))
	}
	if f.Center != 0 {
		x = l.to.Node("Sub", nil, x, l.number(f.Center))
	}
	if f.Scale != 0 && f.Scale != 1 {
		x = l.to.Node("Div", nil, x, l.number(f.Scale))
	}
	return x
}

// absent is true where x, the number of a level, is missing.
func (l *lowering) absent(f encoding.Field, x string) string {
	none := l.to.Node("Less", nil, x, l.number(0))
	if f.Unknown == encoding.UnknownMissing {
		none = l.to.Node("Or", nil, none, l.unknown(f, x))
	}
	return none
}

// unknown is true where x is beyond the last level.
func (l *lowering) unknown(f encoding.Field, x string) string {
	return l.to.Node("Greater", nil, x, l.number(float64(len(f.Levels)-1)))
}

// level is the number of a level: below 0 it is missing, beyond the last it is unknown.
func (l *lowering) level(f encoding.Field, x string) string {
	replace := func(condition string, by float64, declared bool) {
		if !declared {
			l.reject(condition, nil)
			by = 0
		}
		x = l.to.Node("Where", nil, condition, l.number(by), x)
	}
	absent, unknown := l.absent(f, x), l.unknown(f, x)
	if f.Unknown != encoding.UnknownMissing {
		replace(unknown, float64(f.Unknown), f.Unknown >= 0)
	}
	replace(absent, f.Impute, f.Missing == encoding.MissingImpute)
	return x
}

// read is size neighbouring encoded columns.
func (l *lowering) read(first, size int, dims []int) value {
	var parts []value
	for k := first; k < first+size; {
		p, n := l.columns[k], 1
		for k+n < first+size && l.columns[k+n].in.name == p.in.name && l.columns[k+n].at == p.at+n {
			n++
		}
		part := p.in
		if n != part.size() {
			flat := l.in(part, []int{part.size()})
			name := l.to.Node("Slice", nil, flat.name, l.ints([]int{p.at}), l.ints([]int{p.at + n}), l.ints([]int{1}))
			part = value{name: name, dims: []int{n}}
		}
		parts = append(parts, part)
		k += n
	}
	if len(parts) == 1 {
		return l.in(parts[0], dims)
	}
	return l.stack(parts, dims)
}
