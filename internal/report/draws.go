package report

import (
	"strings"

	"d3p/internal/fit"
	"d3p/internal/models"
)

// Draws are S draws of V scalars from the released posterior: the parameters on
// the scale of the model file, then the quantities derived from them.
type Draws struct {
	Variables []Variable // V of them
	Groups    []Group    // the parameters and quantities that they are elements of
	S         int
	Values    []float64 // [V x S]: the draws of one variable are contiguous
	Center    []float64 // [V]: the values at the mean of the unconstrained posterior
}

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
	// NoiseShare is the part of the unconstrained posterior variance that
	// stands for the privacy noise, from 0 to 1; nil when it is not modelled.
	NoiseShare *float64
}

// DrawPosterior draws s times from the posterior p of m. It is post-processing
// and costs nothing.
func DrawPosterior(m *models.Model, p *fit.Posterior, s int, rng fit.Normals) Draws {
	d := Draws{S: s}
	d.Variables, d.Groups = variables(m, p)
	d.Values, d.Center = make([]float64, len(d.Variables)*s), make([]float64, len(d.Variables))
	m.Constrain(d.Center[:m.Constrained], p.Mean)
	m.Quantities(d.Center[m.Constrained:], p.Mean)
	theta := make([]float64, m.P)
	values := make([]float64, len(d.Variables))
	for i := range s {
		p.Draws(theta, rng)
		m.Constrain(values[:m.Constrained], theta)
		m.Quantities(values[m.Constrained:], theta)
		for v, x := range values {
			d.Values[v*s+i] = x
		}
	}
	return d
}

func variables(m *models.Model, p *fit.Posterior) (list []Variable, groups []Group) {
	share := make([]float64, m.P)
	p.NoiseShare(share)
	for _, params := range [][]models.Param{m.Params, m.Derived} {
		for i := range params {
			q := &params[i]
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
					v.Transform = q.Transform.Name
				}
				if q.Transform != nil && q.Size == q.ConstrainedSize {
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
