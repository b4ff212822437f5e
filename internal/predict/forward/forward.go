// Package forward writes the predictions of a model at one point of its parameters as a
// file of ONNX: from the columns of a data file, in its units, to the expected responses
// and the probabilities of levels.
//
// The graph is the model's own, node by node, so every model whose functions ONNX has can
// be written. ONNX layers replace the nodes of the layers that ONNX has. Values that depend
// on parameters alone become constants. A value of a record keeps its dims; the records
// come first.
package forward

import (
	"encoding/json"
	"errors"
	"fmt"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/onnx"
)

// ErrLatent is the error for a model with local latents.
var ErrLatent = errors.New("its predictions draw random codes for each row, and a file of ONNX draws none")

// errNothing is the error for a model without an expected value and without levels.
var errNothing = errors.New("no response has an expected value or levels")

// Model writes the predictions of m at θ, of m.P unconstrained scalars. Inputs are the
// columns and tensors of a data file, outputs the responses, under their names.
func Model(m *models.Model, theta []float64, producer string) (*onnx.Model, error) {
	if m.Reconstruct != nil {
		return nil, ErrLatent
	}
	f, err := m.Forward()
	if err != nil {
		return nil, err
	}
	wanted := responses(m, f.Outputs)
	if len(wanted) == 0 {
		return nil, errNothing
	}
	l := newLowering(m.Name, producer, f)
	return l.write(f, wanted, theta, func() error { return l.inputs(m) })
}

// Net writes one network of m at θ: of `input`, the value that its first layer sees, the
// output of each head under its name, or `output`. All positions of a sequence count. It is
// nil without a network of that name.
func Net(m *models.Model, name string, theta []float64, producer string) (*onnx.Model, error) {
	f, n := m.ForwardNet(name)
	if n == nil {
		return nil, nil
	}
	l := newLowering(m.Name+"."+name, producer, f)
	heads := n.Heads()
	if heads == nil {
		heads = []string{"output"}
	}
	wanted := make([]response, len(heads))
	for i, head := range heads {
		wanted[i] = response{name: head, node: f.Outputs[i], dims: f.Outputs[i].Shape().Sizes(), by: 1}
	}
	return l.write(f, wanted, theta, func() error {
		x := value{name: "input", dims: n.Input().Sizes()}
		l.to.Input(x.name, onnx.Float, x.dims...)
		l.begin(x.name)
		for i := range x.size() {
			l.columns = append(l.columns, place{x, i})
		}
		return nil
	})
}

func newLowering(name, producer string, f *models.Forward) *lowering {
	l := &lowering{to: onnx.NewModel(name, producer), values: make(map[*graph.Node]value), shapes: make(map[shaped]string), layers: make(map[*graph.Node]net.Operation)}
	for _, o := range f.Operations {
		l.layer(o)
	}
	return l
}

// write writes the inputs and the wanted outputs.
func (l *lowering) write(f *models.Forward, wanted []response, theta []float64, inputs func() error) (*onnx.Model, error) {
	if err := l.evaluate(f.Builder, wanted, theta); err != nil {
		return nil, err
	}
	if err := inputs(); err != nil {
		return nil, err
	}
	for _, r := range wanted {
		x, err := l.lower(r.node)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		l.output(r, x)
	}
	return l.to, nil
}

// response is an output: the node, and how it becomes numbers in the unit of the file.
type response struct {
	name       string
	node       *graph.Node
	dims       []int
	center, by float64
	levels     []string
}

// responses lists the outputs of a forward graph that can be written.
func responses(m *models.Model, outputs []*graph.Node) (list []response) {
	for i := range m.Observed {
		o := &m.Observed[i]
		r := response{name: o.Name, by: 1}
		switch {
		case o.Levels >= 0:
			r.node, r.levels = outputs[o.Levels], o.Columns[0].LevelNames()
		case o.Mean >= 0 && len(o.Columns) == 1:
			c := o.Columns[0]
			if !o.Raw[0] {
				if c.Transform.IsSet() {
					continue // the mean is not the transform of a mean
				}
				r.center, r.by = c.Scale()
			}
			r.node = outputs[o.Mean]
			if !c.Numeric() {
				r.levels = c.LevelNames()
			}
		default:
			continue
		}
		r.dims = r.node.Shape().Sizes()
		list = append(list, r)
	}
	return list
}

// output writes a response. A row that lacks a value that the model needs has NaN.
func (l *lowering) output(r response, x value) {
	name := l.perRecord(x, r.dims)
	if r.by != 1 {
		name = l.to.Node("Mul", nil, name, l.number(r.by))
	}
	if r.center != 0 {
		name = l.to.Node("Add", nil, name, l.number(r.center))
	}
	if l.rejected != "" {
		name = l.to.Node("Where", nil, l.reshaped(value{name: l.rejected}, ones(len(r.dims))), l.nan(), name)
	}
	name = l.to.Output(name, r.name, onnx.Float, r.dims...)
	l.levels(name, r.levels)
}

// levels records the levels that the numbers 0, 1, ... of an input or an output mean.
func (l *lowering) levels(name string, levels []string) {
	if levels == nil {
		return
	}
	text, err := json.Marshal(levels)
	if err != nil {
		panic(err) // texts have JSON
	}
	l.to.Metadata["d3p.levels."+name] = string(text)
}
