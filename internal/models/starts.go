package models

import (
	"math"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/models/spec"
	"d3p/internal/spell"
)

// Start is the model file's initial value of some unconstrained scalars.
type Start struct {
	Offset int // of the first
	Values []float64
}

// starts reads the guide's statements about single parameters, after the weights from
// public files.
func (c *compiler) starts() []Start {
	var names []string
	for i := range c.params {
		names = append(names, c.params[i].Name)
	}
	find := func(name source.Value[string]) []int {
		found := named(c.spec, c.params, name.V)
		if len(found) == 0 {
			c.errs.Add(name.At, spell.Question(name.V, names, ""), "no parameter %s to guide", name.V)
		}
		return found
	}
	for _, b := range c.spec.Guide.Blocks {
		find(b.Param)
	}
	starts := c.pretrained
	for _, name := range c.spec.Guide.Spread {
		for _, i := range find(name) {
			if c.priors[i].broken {
				continue
			}
			if values := c.spread(name, i); values != nil {
				starts = append(starts, Start{c.params[i].Offset, values})
			}
		}
	}
	return starts
}

// named lists the parameters with a name in the guide: the one so called or, in a formula
// with groups, those of every group, as z for z_hospital.
func named(s *spec.Spec, params []Param, name string) []int {
	var found []int
	for i := range params {
		is := params[i].Name == name
		if s.Model != nil && s.Model.Terms != nil {
			for _, g := range s.Model.AllGroups() {
				is = is || params[i].Name == name+"_"+g.Name()
			}
		}
		if is {
			found = append(found, i)
		}
	}
	return found
}

// Guided lists the parameters of a name under `guide: blocks:`.
func (m *Model) Guided(name string) []*Param {
	var list []*Param
	for _, i := range named(m.Spec, m.Params, name) {
		list = append(list, &m.Params[i])
	}
	return list
}

// spread places the components of a parameter such as mus [k, d] in the box of
// the declared bounds, d being a dim of columns (without one, the only column
// that is observed). The K components are the points of Hammersley's set: evenly
// spaced along the first column, by the radical inverse in the bases 2, 3, 5, ...
// along the others, so that they lie on no line. It looks at declarations alone.
func (c *compiler) spread(name source.Value[string], param int) []float64 {
	p := &c.params[param]
	if p.Transform.Name != "identity" {
		c.errs.Add(name.At, "it is for locations", "%s cannot be spread over bounds: its values are %s", p.Name, c.priors[param].support)
		return nil
	}
	shape := c.priors[param].shape
	columns, along := c.soleObserved(), -1
	for i, d := range shape {
		if list := c.labelsOf(d.Name); len(list) > 0 {
			columns, along = list, i
		}
	}
	for _, column := range columns {
		if !column.Numeric() {
			columns = nil
		}
	}
	if len(columns) == 0 {
		c.errs.Add(name.At, "give it a dim whose labels are numeric columns", "%s has no columns over whose bounds it could be spread", p.Name)
		return nil
	}
	stride, size := shape.Size(), len(columns)
	if along >= 0 {
		for _, d := range shape[:along+1] {
			stride /= d.Size
		}
	} else {
		size = 1
	}
	components := shape.Size() / size
	values, next := make([]float64, shape.Size()), make([]int, size)
	for i := range values {
		d := 0
		if along >= 0 {
			d = i / stride % size
		}
		lower, upper := modelBounds(columns[d])
		values[i] = lower + (upper-lower)*hammersley(next[d], components, d)
		next[d]++
	}
	return values
}

// soleObserved is the column that the model observes, if it is one.
func (c *compiler) soleObserved() []*data.Column {
	if len(c.core.Observe) != 1 {
		return nil
	}
	if column := c.spec.Data.Column(c.core.Observe[0].Name.V); column != nil {
		return []*data.Column{column}
	}
	return nil
}

// modelBounds are a column's declared bounds on the scale of the model.
func modelBounds(column *data.Column) (lower, upper float64) {
	center, by := column.Scale()
	return (column.Transformed(column.Lower.V) - center) / by, (column.Transformed(column.Upper.V) - center) / by
}

// hammersley is coordinate d of point k of n: (k+½)/n for d = 0, then the
// radical inverse of k+1 in the base of the d-th prime.
// Hammersley 1960, Annals of the New York Academy of Sciences 86.
func hammersley(k, n, d int) float64 {
	if d == 0 {
		return (float64(k) + 0.5) / float64(n)
	}
	base, x, scale := prime(d), 0.0, 1.0
	for k++; k > 0; k /= base {
		scale /= float64(base)
		x += scale * float64(k%base)
	}
	return x
}

// prime is the d-th prime; 2 is the first.
func prime(d int) int {
	for n := 2; ; n++ {
		isPrime := true
		for f := 2; f <= int(math.Sqrt(float64(n))); f++ {
			isPrime = isPrime && n%f != 0
		}
		if isPrime {
			if d--; d == 0 {
				return n
			}
		}
	}
}

// NearStarts sets start (P) to the model's initial values, else zero, plus a number within
// 1 for every scalar.
func (m *Model) NearStarts(start []float64, rng interface{ Uniform() float64 }) {
	for j := range start {
		start[j] = 2*rng.Uniform() - 1
	}
	for _, s := range m.Starts {
		for j, v := range s.Values {
			start[s.Offset+j] += v
		}
	}
}
