package models

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/net"
	"d3p/internal/models/spec"
)

// Read parses and compiles a model file. The error is an expr.Errors with all mistakes of
// the file and their places: of its YAML and declarations, and of those expressions that
// these mistakes leave readable. load reads the public files that it names; see spec.Parse.
func Read(file string, src []byte, load spec.Loader) (*Model, error) {
	s, errs := spec.Parse(file, src, load)
	if len(errs) == 0 {
		return Compile(s)
	}
	core, lowered := s.Lowerable()
	errs = append(errs, lowered...)
	if core == nil {
		errs.Sort()
		return nil, errs
	}
	c := newCompiler(s, core)
	c.check(&Model{})
	c.errs = append(c.errs, errs...)
	return nil, c.sorted()
}

// Compile compiles a model file without mistakes into a Model. The error is an expr.Errors
// with all mistakes of the model's expressions and their places: unknown names, shapes that
// do not fit, improper supports, records that would mix.
func Compile(s *spec.Spec) (*Model, error) { return compileIn(s, nil) }

// compileIn is Compile in whitened coordinates.
func compileIn(s *spec.Spec, coordinates *Coordinates) (*Model, error) {
	core, errs := s.Lower()
	if len(errs) > 0 {
		return nil, errs
	}
	c := newCompiler(s, core)
	c.coordinates = coordinates
	m := &Model{Name: s.Name.V, Spec: s, Core: core, coordinates: coordinates}
	likelihood, predict := c.check(m)
	if len(c.errs) > 0 {
		return nil, c.sorted()
	}
	m.Params, m.P = c.params, c.size
	for _, p := range c.params {
		m.Constrained += p.ConstrainedSize
	}
	for _, n := range c.networks {
		m.Layers = append(m.Layers, n.Layers...)
	}
	m.Encoding = c.encoder.Encoding()
	c.tapes(m, likelihood, predict)
	if len(c.errs) > 0 {
		return nil, c.sorted()
	}
	c.warnFree(m)
	return m, nil
}

// check builds the graphs of a record and reports every mistake that it meets.
func (c *compiler) check(m *Model) (likelihood, predict *build) {
	c.dimensions()
	c.parameters()
	c.checkTrained()
	c.checkNames()
	c.checkUse()
	m.Starts = c.starts()
	m.custom = c.customGuide()
	c.relabelling(c.params, nil)
	c.checkNets()
	c.checkLatents()
	if c.brokenNet {
		return nil, nil
	}
	likelihood = c.likelihood(m)
	c.checkMissing()
	m.Constraints = c.constraints()
	if len(c.errs) == 0 {
		predict = c.predictions(m)
	}
	return likelihood, predict
}

// compiler has the parts that the tapes of one model share. Each tape has its own Builder;
// all have the same places of columns and parameters.
type compiler struct {
	spec    *spec.Spec
	core    *core.Core
	errs    expr.Errors
	dims    map[string]expr.Dim
	columns []string // names of the declared columns
	usage   usage
	encoder *encoding.Builder
	params  []Param
	priors  []prior
	size    int // unconstrained scalars

	coordinates *Coordinates // of work; nil: those of the declaration
	networks    []*net.Net
	pretrained  []Start // of weights from public files
	// brokenNet means that a network has a mistake: its callers are not to blame.
	brokenNet bool
}

func newCompiler(s *spec.Spec, core *core.Core) *compiler {
	c := &compiler{spec: s, core: core, encoder: encoding.NewBuilder(&s.Data)}
	c.columns = s.Data.ColumnNames()
	for _, t := range s.Data.Tensors {
		c.columns = append(c.columns, t.Name.V)
		if t.Sequence() {
			c.columns = append(c.columns, t.Name.V+data.LengthSuffix)
		}
	}
	c.usage = usageOf(core)
	return c
}

// sorted returns the mistakes in the order of their places, each once.
func (c *compiler) sorted() error {
	c.errs.Sort()
	kept := c.errs[:0]
	for i, e := range c.errs {
		if i == 0 || *e != *c.errs[i-1] {
			kept = append(kept, e)
		}
	}
	return kept
}

// graphError reports an error of the graph compiler about the whole model.
func (c *compiler) graphError(err error) {
	if err != nil {
		c.errs.Add(c.core.At, "", "the model does not compile: %v", err)
	}
}

// tapes compiles the graphs.
func (c *compiler) tapes(m *Model, likelihood, predict *build) {
	var err error
	if views := &c.spec.Likelihood.Views; m.Encoding.RowsPerUnit > 1 || views.V > 1 {
		likelihood = c.build()
		likelihood.loss = likelihood.unit(m.Encoding)
	}
	m.Likelihood, err = c.likelihoodTape(likelihood.b, likelihood.loss, m.Encoding.Width())
	c.graphError(err)
	if views := &c.spec.Likelihood.Views; err == nil && views.V > 1 && m.Likelihood.AuxRecord == 0 {
		c.errs.Add(views.At, "leave views out, or add a layer such as augment or dropout", "all %d views of a record would be the same: nothing is random for a record", views.V)
	}
	option := graph.Options{Columns: m.Encoding.Predictors().K}
	m.Predict, err = graph.Compile(predict.b, nil, predict.outputs, option)
	c.graphError(err)
	if len(c.core.Latent) > 0 {
		option.Columns = m.Encoding.K
		whole := c.reconstruction(m)
		m.Reconstruct, err = graph.Compile(whole.b, nil, whole.outputs, option)
		c.graphError(err)
	}
	prior := c.priorGraph()
	m.Prior, err = graph.Compile(prior.b, prior.loss, nil, graph.Options{})
	c.graphError(err)
	c.globals(m)
}

// inStepFrom is the public number of units from which the table has no derived columns.
// Each step then computes the designs of linear predictors from the encoded columns of the
// records that it reads. A default fit of that many records reads each about 10 times, so
// computing the designs once would save little, and the table is several times smaller.
const inStepFrom = 10_000_000

// inStep reports whether the table has no derived columns.
func inStep(s *spec.Spec) bool { return s.Data.Rows.N() >= inStepFrom }

// likelihoodTape compiles a loss of the records of a table.
func (c *compiler) likelihoodTape(b *graph.Builder, loss *graph.Node, columns int) (*graph.Tape, error) {
	return graph.Compile(b, loss, nil, graph.Options{Columns: columns, InStep: inStep(c.spec)})
}

// globals compiles the tape of parameters and derived quantities.
func (c *compiler) globals(m *Model) {
	g := c.build()
	for _, p := range c.params {
		g.outputs = append(g.outputs, g.env.Values[p.Name].Node)
	}
	for _, d := range c.core.Let {
		n := g.env.Values[d.Name.V].Node
		q := Param{Name: d.Name.V, Dims: c.labelled(n.Shape()), Offset: m.Quantity, Size: n.Size(), At: m.Quantity, ConstrainedSize: n.Size()}
		m.Quantity += q.Size
		m.Derived = append(m.Derived, q)
		g.outputs = append(g.outputs, n)
	}
	tape, err := graph.Compile(g.b, nil, g.outputs, graph.Options{})
	c.graphError(err)
	if err == nil {
		m.globals = &globals{machine: graph.NewMachine(tape, 1), params: len(c.params)}
	}
}

// labelled gives a shape the labels of its dims.
func (c *compiler) labelled(s graph.Shape) []Dim {
	dims := make([]Dim, len(s))
	for i, d := range s {
		labels := c.dims[expr.Unprimed(d.Name)].Labels
		if len(labels) != d.Size {
			labels = expr.NumberedLabels(d.Size)
		}
		dims[i] = Dim{d.Name, labels}
	}
	return dims
}
