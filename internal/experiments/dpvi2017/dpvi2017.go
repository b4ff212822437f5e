// Package dpvi2017 is differentially private variational inference in its first form, for a
// comparison. It simulates: its noise is not secret, and nothing is released.
package dpvi2017

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// Fit fits a mixture with the settings of the authors' program for five normals: the gradients
// of a record's log likelihood with respect to λ = (m, log s), 2P numbers, are clipped for each
// of four draws of θ = m + s∘η and averaged; prior and entropy are outside; Adagrad with steps of
// its own for each parameter forgets every ten steps; λ starts at 0, and the last iterate counts.
// Batches are Poisson samples, for which the paper accounts; its program draws with replacement.
// Jälkö, Dikmen and Honkela 2017, arXiv:1610.08749.
type Fit struct {
	model     *models.Model
	machine   *graph.Machine
	prior     *models.PriorDensity
	rows      [][]float64
	stepSizes []float64 // of λ
}

// Settings of the authors' program. Its σ is half of a noise multiplier.
const (
	steps, rate, clipNorm, draws = 1000, 0.003, 1.0, 4
	restart                      = 10 // steps
)

// Event is what a fit releases with a noise multiplier.
func Event(multiplier float64) event.Event {
	return event.SelfComposed{Of: event.PoissonSampled{Rate: rate, Of: event.Gaussian{NoiseMultiplier: multiplier}}, Count: steps}
}

// New prepares fits of a model with parameters pis, mus and sigs to rows of as many columns.
func New(m *models.Model, rows [][]float64) *Fit {
	d := &Fit{model: m, machine: graph.NewMachine(m.Likelihood, len(rows)), prior: m.NewPriorDensity(), rows: rows, stepSizes: make([]float64, m.P)}
	for _, p := range m.Params {
		for j := range p.Size {
			d.stepSizes[p.Offset+j] = map[string]float64{"pis": 0.01, "mus": 0.2, "sigs": 0.05}[p.Name]
		}
	}
	d.stepSizes = append(d.stepSizes, d.stepSizes...)
	return d
}

// Run is λ after all steps.
func (d *Fit) Run(multiplier float64, rng *noise.Random) []float64 {
	lambda, gradient, squares := make([]float64, 2*d.model.P), make([]float64, 2*d.model.P), make([]float64, 2*d.model.P)
	for t := range steps {
		if t%restart == 0 {
			for j := range squares {
				squares[j] = 0.1
			}
		}
		var batch []float64
		for _, row := range d.rows {
			if rng.Uniform() < rate {
				batch = append(batch, row...)
			}
		}
		d.gradient(gradient, lambda, batch, rng)
		for j, g := range gradient {
			g += multiplier * clipNorm / rate * rng.Normal()
			squares[j] += g * g
			lambda[j] += d.stepSizes[j] * g / math.Sqrt(squares[j]+0.001)
		}
	}
	return lambda
}

// gradient sets dst to the estimate from a batch, without noise, of the bound's gradient.
func (d *Fit) gradient(dst, lambda, batch []float64, rng *noise.Random) {
	p := d.model.P
	records := len(batch) / len(d.rows[0])
	eta, theta, g := make([]float64, p), make([]float64, p), make([]float64, p)
	record := make([]float64, 2*p)
	add := func(weight, most float64) { // g as a gradient of λ, no longer than most
		length := 0.0
		for j := range g {
			record[j], record[p+j] = g[j], g[j]*eta[j]*math.Exp(lambda[p+j])
			length += record[j]*record[j] + record[p+j]*record[p+j]
		}
		weight *= min(1, most/math.Sqrt(length+1e-300))
		for j, x := range record {
			dst[j] += weight * x
		}
	}
	clear(dst)
	for range draws {
		for j := range theta {
			eta[j] = rng.Normal()
			theta[j] = lambda[j] + math.Exp(lambda[p+j])*eta[j]
		}
		d.machine.Globals(theta, nil)
		if records > 0 {
			d.machine.Records(batch, len(d.rows[0]), records, nil)
		}
		for r := range records {
			d.machine.Gradient(r, g)
			add(1/rate/draws, clipNorm)
		}
		d.prior.Gradient(g, theta)
		add(1.0/draws, math.Inf(1))
	}
	for j := range p {
		dst[p+j]++ // of the entropy Σ log s
	}
}

// Draw sets values, of m.Constrained numbers, to a draw of the mean field λ.
func (d *Fit) Draw(values, lambda []float64, rng *noise.Random) {
	theta := make([]float64, d.model.P)
	for j := range theta {
		theta[j] = lambda[j] + math.Exp(lambda[len(theta)+j])*rng.Normal()
	}
	d.model.Constrain(values, theta)
}
