package outputs

import (
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/guide"
	"d3p/internal/models/naming"
	"d3p/internal/posterior"
)

// Draws are S draws of V scalars from the released posterior: the parameters on
// the scale of the model file, then the quantities derived from them.
type Draws struct {
	Variables []Variable // V of them
	Groups    []Group    // the parameters and quantities that they are elements of
	S         int
	Chains    int       // that the draws come from, the same number of each, chain after chain; 0: they are independent
	Values    []float64 // [V x S]: the draws of one variable are contiguous
	Center    []float64 // [V]: the values at the mean of the unconstrained posterior
	Names     []string  // of the P unconstrained numbers
	Free      []float64 // [S x P]: the draws before they were constrained; nil when there are too many
	LogQ      []float64 // [S]: log density of Free under the posterior; nil without Free, and for guides with correlations

	StepMisfit *posterior.StepMisfit // nil without steps of a fit by second moments
	Steps      int                   // that StepMisfit is of
	// Lone reports that effects of a group correlate with nothing in the posterior.
	Lone bool

	all     []float64 // space for all constrained values
	relabel *models.Relabelling
}

// manyNumbers is the number from which draws are not stored a second time: 128 MiB.
const manyNumbers = 1 << 24

// Group is a parameter or derived quantity: the variables from First on are its
// elements in row-major order.
type Group struct {
	Name  string
	Dims  []Dim
	First int
	Size  int
}

// Variable names one scalar of the posterior.
type Variable struct {
	Name      string // as the R packages posterior and brms write it: b[age]
	Dims      string // of its parameter, comma-separated, or ""
	Transform string // from the unconstrained guide; "" for a derived quantity
	// Constraint is the support of its values: real, positive, simplex; "" for a derived
	// quantity.
	Constraint string
	// Lower and Upper bound its values; both are 0 for a derived quantity.
	Lower, Upper float64
	// NoiseShare is the privacy noise's part of the posterior variance, from 0 to 1; nil
	// if it is not modelled.
	NoiseShare *float64
	// Verdict is set by verdict.Judge; nil before.
	Verdict *Verdict
}

// DrawPosterior draws s times from the posterior p of m. It is post-processing and free.
func DrawPosterior(m *models.Model, p *posterior.Posterior, s int, rng posterior.Normals) Draws {
	d := Draws{S: s, StepMisfit: p.StepMisfit, Steps: p.Steps}
	if g, ok := p.Guide.(guide.Sample); ok && s <= g.Draws() && s%g.Chains() == 0 {
		d.Chains = g.Chains()
	}
	for _, q := range m.Params {
		if _, effects := naming.GroupOf(q.Name); effects && q.Size > 1 {
			d.Lone = d.Lone || p.Independent(q.Offset, q.Offset+q.Size)
		}
	}
	d.Variables, d.Groups = variables(m, p)
	d.Values, d.Center = make([]float64, len(d.Variables)*s), make([]float64, len(d.Variables))
	d.Constrain(m, d.Center, p.Mean)
	d.fill(m, p.Sequence(s, rng))
	d.shareDerived(m, p)
	if d.Free != nil {
		d.LogQ = p.LogDensity(d.Free)
	}
	return d
}

// DrawPrior draws s times from the prior of m; nil when that is too much.
func DrawPrior(m *models.Model, s int, rng dist.Rand) *Draws {
	points := PointScalars(m)
	if s*(m.P+m.Constrained+m.Quantity-2*points) > manyNumbers || points == m.P {
		return nil
	}
	d := &Draws{S: s}
	d.Variables, d.Groups = variables(m, nil)
	d.Values = make([]float64, len(d.Variables)*s)
	prior := m.NewPriorSampler()
	d.fill(m, func(theta []float64) { prior.Draw(theta, rng) })
	return d
}

// fill draws the unconstrained numbers and computes the variables from them.
func (d *Draws) fill(m *models.Model, draw func(theta []float64)) {
	d.Names = freeNames(m)
	if len(d.Names) == m.P && d.S*m.P <= manyNumbers {
		d.Free = make([]float64, d.S*m.P)
	}
	theta, values := make([]float64, m.P), make([]float64, len(d.Variables))
	if len(values) == 0 {
		return // the posterior is a point
	}
	for i := range d.S {
		if d.Free != nil {
			theta = d.Free[i*m.P : (i+1)*m.P]
		}
		draw(theta)
		d.Constrain(m, values, theta)
		for v, x := range values {
			d.Values[v*d.S+i] = x
		}
	}
}

// Constrain sets values to the variables at theta: without the weights that are
// points.
func (d *Draws) Constrain(m *models.Model, values, theta []float64) {
	if d.all == nil {
		d.all, d.relabel = make([]float64, m.Constrained), m.Relabelling()
	}
	m.Constrain(d.all, theta)
	quantities := values[len(values)-m.Quantity:]
	m.Quantities(quantities, theta)
	if d.relabel != nil {
		d.relabel.Apply(d.all, quantities)
	}
	for i := range m.Params {
		if q := &m.Params[i]; !isPoint(q) {
			values = values[copy(values, d.all[q.At:q.At+q.ConstrainedSize]):]
		}
	}
}

// variables names the scalars of m; p may be nil for draws that no privacy noise
// has touched.
func variables(m *models.Model, p *posterior.Posterior) (list []Variable, groups []Group) {
	share, relabel := make([]float64, m.P), m.Relabelling()
	if p != nil {
		p.NoiseShare(share)
	}
	for _, params := range [][]models.Param{m.Params, m.Derived} {
		for i := range params {
			q := &params[i]
			if isPoint(q) {
				continue
			}
			group := Group{Name: q.Name, First: len(list), Size: q.ConstrainedSize}
			var dims []string
			for _, d := range q.Dims {
				dims = append(dims, d.Name)
				group.Dims = append(group.Dims, Dim{d.Name, d.Labels})
			}
			groups = append(groups, group)
			for j, name := range q.Elements() {
				v := Variable{Name: name, Dims: strings.Join(dims, ",")}
				if q.Transform != nil {
					v.Transform, v.Constraint = q.Transform.Name, q.Transform.Target.String()
					v.Lower, v.Upper = q.Transform.Target.Bounds()
				}
				if p != nil && q.Transform != nil && q.Size == q.ConstrainedSize && (relabel == nil || !relabel.Moves(q.Name)) {
					v.NoiseShare = &share[q.Offset+j]
				}
				list = append(list, v)
			}
		}
	}
	return list, groups
}

// Of returns the S draws of variable v.
func (d Draws) Of(v int) []float64 { return d.Values[v*d.S : (v+1)*d.S] }
