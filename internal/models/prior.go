package models

import (
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// PriorSampler draws parameters from the prior. It keeps buffers: one at a time
// may use it.
type PriorSampler struct {
	model   *Model
	machine *graph.Machine
	params  []Param
	steps   []priorStep // each after those that its prior names
}

// priorStep draws the values of one parameter.
type priorStep struct {
	param int
	shape graph.Shape
	draws []valueDraw // the whole parameter, then single values with separate priors
	// values are the parameter's values, row-major.
	values []float64
}

// valueDraw draws values at, at+1, ... of a parameter from one prior.
type valueDraw struct {
	sampler dist.Sampler
	at      int
	dst     []float64
	outputs []int // of the machine: the inputs of the sampler
	inputs  [][]float64
}

// Draw sets theta, of P scalars, to unconstrained parameters from the prior.
func (d *PriorSampler) Draw(theta []float64, rng dist.Rand) {
	clear(theta)
	for _, s := range d.steps {
		d.machine.Globals(theta, nil)
		for _, v := range s.draws {
			for i, out := range v.outputs {
				v.inputs[i] = d.machine.Output(out)
			}
			v.sampler(v.dst, v.inputs, rng)
			copy(s.values[v.at:], v.dst)
		}
		p := &d.params[s.param]
		p.Transform.InverseAll(theta[p.Offset:p.Offset+p.Size], s.values, s.shape)
	}
	d.model.FromDeclared(theta, theta)
}

// NewPriorSampler prepares draws from the prior.
func (m *Model) NewPriorSampler() *PriorSampler {
	c := newCompiler(m.Spec, m.Core)
	c.dimensions()
	c.parameters()
	g := c.build()
	d := &PriorSampler{model: m, params: m.Params}
	draw := func(e expr.Expr, shape graph.Shape, at int) valueDraw {
		density, errs := expr.LowerDensity(e, g.env, g.b)
		if len(errs) > 0 {
			panic("models: a compiled prior does not lower: " + errs.Error())
		}
		v := valueDraw{sampler: density.Sampler(shape), at: at, dst: make([]float64, shape.Size())}
		for _, n := range density.Inputs() {
			v.outputs = append(v.outputs, len(g.outputs))
			g.outputs = append(g.outputs, n)
			v.inputs = append(v.inputs, nil)
		}
		return v
	}
	for _, definition := range c.ordered(append(c.core.Params[:len(c.core.Params):len(c.core.Params)], c.core.Let...)) {
		for i := range c.priors {
			p := &c.priors[i]
			if p.definition != definition {
				continue
			}
			s := priorStep{param: i, shape: p.shape, values: make([]float64, p.shape.Size())}
			s.draws = append(s.draws, draw(p.distribution, p.shape, 0))
			for _, e := range p.elements {
				s.draws = append(s.draws, draw(e.definition.Expr, nil, e.at))
			}
			d.steps = append(d.steps, s)
		}
	}
	for i := range c.priors {
		if !c.params[i].Weight {
			continue
		}
		p := &c.priors[i]
		s := priorStep{param: i, shape: p.shape, values: make([]float64, p.shape.Size())}
		if p.distribution == nil {
			s.draws = []valueDraw{firstWeights(&c.params[i], p.shape)}
		} else {
			s.draws = []valueDraw{draw(p.distribution, p.shape, 0)}
		}
		d.steps = append(d.steps, s)
	}
	tape, err := graph.Compile(g.b, nil, g.outputs, graph.Options{})
	if err != nil {
		panic("models: compiled priors do not compile: " + err.Error())
	}
	d.machine = graph.NewMachine(tape, 1)
	return d
}

// firstWeights replaces the prior of weights that have a flat one by the normal
// distribution of their initial values.
func firstWeights(p *Param, shape graph.Shape) valueDraw {
	return valueDraw{dst: make([]float64, shape.Size()), sampler: func(dst []float64, _ [][]float64, rng dist.Rand) {
		for i := range dst {
			dst[i] = p.StartMean + p.StartSD*rng.Normal()
		}
	}}
}

// PriorDensity evaluates the prior of a model on the unconstrained scale, Jacobians
// included.
type PriorDensity struct{ machine *graph.Machine }

// NewPriorDensity returns the prior of m, ready to evaluate.
func (m *Model) NewPriorDensity() *PriorDensity {
	return &PriorDensity{graph.NewMachine(m.Prior, 1)}
}

// LogDensity is log p(θ) at theta (P).
func (p *PriorDensity) LogDensity(theta []float64) float64 {
	p.machine.Globals(theta, nil)
	return p.machine.Loss()[0]
}

// Gradient sets dst (P) to ∂ log p(θ)/∂θ at theta (P).
func (p *PriorDensity) Gradient(dst, theta []float64) {
	p.machine.Globals(theta, nil)
	p.machine.GlobalGradient(dst)
}

// Density sets dst (P) to ∂ log p(θ)/∂θ at theta (P) and returns log p(θ).
func (p *PriorDensity) Density(dst, theta []float64) float64 {
	p.Gradient(dst, theta)
	return p.machine.Loss()[0]
}

// priorDraws is the number of draws that represent the prior.
const priorDraws = 200

// PriorPrecision estimates 1/variance of every coordinate (P) under the prior.
func (m *Model) PriorPrecision(rng dist.Rand) []float64 {
	prior := m.NewPriorSampler()
	theta, sum, square := make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
	for range priorDraws {
		prior.Draw(theta, rng)
		for j, x := range theta {
			sum[j], square[j] = sum[j]+x/priorDraws, square[j]+x*x/priorDraws
		}
	}
	for j := range sum {
		sum[j] = 1 / max(1e-12, square[j]-sum[j]*sum[j])
	}
	return sum
}
