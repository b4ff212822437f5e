// Package models compiles a checked model file: into the encoding of a record, the tape of
// its log density, the tape of the prior, and tapes for prediction and reporting. It is
// pure mathematics: no files, no network, no clock.
//
// Letters: B records in a batch, K columns of an encoded record, P unconstrained scalars θ.
package models

import (
	"strings"
	"sync"

	"d3p/internal/models/core"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/models/law"
	"d3p/internal/models/net"
	"d3p/internal/models/spec"
	"d3p/internal/models/support"
)

// Model is a compiled model file. Only Constrain and Quantities change
// anything in it, and they lock.
type Model struct {
	Name   string
	Spec   *spec.Spec
	Core   *core.Core // the model in the core language
	Params []Param    // in order of declaration, which is the order of θ
	P      int        // unconstrained scalars

	Encoding   encoding.Encoding
	Observed   []Observation // the observations, in order of declaration
	Likelihood *graph.Tape
	Prior      *graph.Tape

	// Predict is forward only. Per record it puts out, for each observation in
	// turn, the outputs that Observation names.
	Predict *graph.Tape
	// Reconstruct is Predict with the local latents drawn from their guide, which
	// sees the record, and the bound on log p(record) as last output; nil without
	// local latents.
	Reconstruct *graph.Tape

	// Layers are the layers of all networks, in order of declaration.
	Layers []net.Built

	// Derived are the quantities under `let:`, in order of declaration; their
	// Offset is among the numbers that Quantities sets.
	Derived []Param
	// Constrained is the number of scalars that Constrain sets, Quantity the number that
	// Quantities sets.
	Constrained, Quantity int
	// Starts are the parameters with an initial value in the model file.
	Starts []Start
	// Constraints are the conditions on every record of a synthetic table; nil: none.
	Constraints *Constraints

	coordinates *Coordinates // of work; nil: the declared ones
	globals     *globals
	custom      *guide.Tapes
}

// LeastPerNumber is the number of records for each unconstrained scalar below which a
// table has few.
const LeastPerNumber = 20

// FewRecords reports whether a table has too few records, for the model's number of
// parameters, to spend budget besides the fit or to correct its mean.
func (m *Model) FewRecords(records int) bool { return records < LeastPerNumber*m.P }

// Param is a parameter, or a quantity derived from parameters.
type Param struct {
	Name string
	Dims []Dim
	// Offset and Size locate its unconstrained scalars in θ; for a derived
	// quantity, its scalars among all quantities.
	Offset, Size int
	// At and ConstrainedSize locate its values among those of Constrain.
	At, ConstrainedSize int
	Transform           *support.Transform // nil for a derived quantity
	Prior               string             // as written; "" for a derived quantity
	// Weight: it holds weights of a network; the fit starts them at public draws from a
	// normal of this mean and standard deviation.
	Weight             bool
	StartMean, StartSD float64
}

// Dim is a named dimension with its labels.
type Dim struct {
	Name   string
	Labels []string
}

// Elements names the values of the parameter in row-major order: sigma,
// b[age], r_hospital[H01,Intercept].
func (p *Param) Elements() []string {
	names := []string{""}
	for _, d := range p.Dims {
		next := make([]string, 0, len(names)*len(d.Labels))
		for _, n := range names {
			for _, label := range d.Labels {
				if n != "" {
					label = n + "," + label
				}
				next = append(next, label)
			}
		}
		names = next
	}
	for i, n := range names {
		names[i] = p.Name
		if len(p.Dims) > 0 {
			names[i] += "[" + n + "]"
		}
	}
	return names
}

// String prints the name with its dims, such as b [coef].
func (p *Param) String() string {
	if len(p.Dims) == 0 {
		return p.Name
	}
	names := make([]string, len(p.Dims))
	for i, d := range p.Dims {
		names[i] = d.Name
	}
	return p.Name + " [" + strings.Join(names, ", ") + "]"
}

// Names names every constrained value in the order of Constrain.
func (m *Model) Names() []string {
	names := make([]string, 0, m.Constrained)
	for i := range m.Params {
		names = append(names, m.Params[i].Elements()...)
	}
	return names
}

// Scales are the places in θ of logarithms: of parameters that are positive.
func (m *Model) Scales() (list []int) {
	for i := range m.Params {
		if p := &m.Params[i]; p.Transform.Name == "exp" {
			for j := range p.Size {
				list = append(list, p.Offset+j)
			}
		}
	}
	return list
}

// globals evaluates the tape of values that depend on θ alone.
type globals struct {
	sync.Mutex
	machine *graph.Machine
	params  int // the first outputs are the parameters, the others the quantities
}

// Constrain sets dst, of m.Constrained scalars, to the values of all parameters
// at the unconstrained θ, of m.P scalars.
func (m *Model) Constrain(dst, theta []float64) {
	m.globals.evaluate(dst, theta, 0, m.globals.params)
}

// Quantities sets dst, of m.Quantity scalars, to the values of the quantities
// in m.Derived at θ.
func (m *Model) Quantities(dst, theta []float64) {
	m.globals.evaluate(dst, theta, m.globals.params, m.globals.params+len(m.Derived))
}

// evaluate copies outputs from to to, one after the other, to dst.
func (g *globals) evaluate(dst, theta []float64, from, to int) {
	g.Lock()
	defer g.Unlock()
	g.machine.Globals(theta, nil)
	for i := from; i < to; i++ {
		out := g.machine.Output(i)
		copy(dst[:len(out)], out)
		dst = dst[len(out):]
	}
}

// DeclaredLaw is the spread of the columns by the declarations.
func (m *Model) DeclaredLaw() *law.Law { return law.Declared(&m.Spec.Data) }

// ByMarginals reports whether the model is for synthetic tables that are learnt from
// noisy tables of counts; then its parameters are not fitted.
func (m *Model) ByMarginals() bool { return m.Spec.Twin != nil && m.Spec.Twin.ByMarginals() }
