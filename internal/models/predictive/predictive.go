// Package predictive computes a model's predictions for new records.
package predictive

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/graph"
)

// Distribution computes predictions for new records, at one θ at a time. It allocates
// once; it is not safe for concurrent use.
type Distribution struct {
	observed []models.Observation
	tape     *graph.Tape
	machine  *graph.Machine
	samplers []dist.Sampler
	values   [][][]float64 // of each observation: its inputs for one record
	batch    int
	noise    int       // standard normals of a record's local latents
	latents  []float64 // all of them, [noise × B]
	bound    int       // output of a reconstruction
}

// New prepares predictions for batches of up to maxB records.
func New(m *models.Model, maxB int) *Distribution { return newDistribution(m, m.Predict, maxB) }

// NewReconstruction prepares reconstructions of whole records for batches of up
// to maxB: their local latents are at the means of the guide, or drawn from it
// after Latents. Records are encoded by Encoding. It must not be called for a
// model without local latents.
func NewReconstruction(m *models.Model, maxB int) *Distribution {
	p := newDistribution(m, m.Reconstruct, maxB)
	p.bound = len(m.Reconstruct.Outputs) - 1
	return p
}

// newDistribution prepares predictions by one of the model's forward-only tapes.
func newDistribution(m *models.Model, t *graph.Tape, maxB int) *Distribution {
	p := &Distribution{observed: m.Observed, tape: t, machine: graph.NewMachine(t, maxB), noise: t.AuxRecord, latents: make([]float64, t.AuxRecord*maxB)}
	for _, o := range m.Observed {
		inputs := o.Density.Inputs()
		values := make([][]float64, len(inputs))
		for i, n := range inputs {
			values[i] = make([]float64, n.Size())
		}
		p.values = append(p.values, values)
		p.samplers = append(p.samplers, o.Density.Sampler(o.Shape))
	}
	return p
}

// Set takes the unconstrained parameters of the next predictions.
func (p *Distribution) Set(theta []float64) { p.machine.Globals(theta, nil) }

// Records takes the records to predict for, encoded by Encoding.Predictors:
// column j of record b is rows[b·stride + j].
func (p *Distribution) Records(rows []float64, stride, B int) {
	p.batch = B
	p.machine.Records(rows, stride, B, p.latents[:p.noise*B])
}

// Random reports whether records have local latents or values that are binarised
// by draws, so that predictions depend on Latents.
func (p *Distribution) Random() bool { return p.noise > 0 }

// Latents draws the random parts of new records: local latents, and binarised values.
// Before, latents are at their means.
func (p *Distribution) Latents(rng dist.Rand) {
	for i := range p.latents {
		p.latents[i] = rng.Normal()
	}
}

// Mean sets dst[j·B + b] to the mean of column j of observation i in record b, in the unit
// of the file. If there is no such mean it leaves dst unchanged and returns false: levels
// have none, and the transform of a mean is not the mean of a transformed column.
func (p *Distribution) Mean(dst []float64, i int) bool {
	o := &p.observed[i]
	if o.Mean < 0 {
		return false
	}
	for j, c := range o.Columns {
		if !o.Raw[j] && c.Transform.IsSet() {
			return false
		}
	}
	copy(dst[:len(o.Columns)*p.batch], p.spread(o.Mean))
	for j, c := range o.Columns {
		if o.Raw[j] {
			continue
		}
		center, by := c.Scale()
		for b := j * p.batch; b < (j+1)*p.batch; b++ {
			dst[b] = dst[b]*by + center
		}
	}
	return true
}

// Levels sets dst[l·B + b] to the probability of level l of observation i in
// record b, and returns false when that is no category.
func (p *Distribution) Levels(dst []float64, i int) bool {
	o := &p.observed[i]
	if o.Levels < 0 {
		return false
	}
	copy(dst, p.spread(o.Levels))
	return true
}

// spread is output i for every record of the batch, [size × B]; one that depends
// on no column has the same values in all.
func (p *Distribution) spread(i int) []float64 {
	out := p.machine.Output(i)
	if p.tape.Buffers[p.tape.Outputs[i]].Kind == graph.KRecord {
		return out
	}
	all := make([]float64, len(out)*p.batch)
	for e, x := range out {
		for b := range p.batch {
			all[e*p.batch+b] = x
		}
	}
	return all
}

// Bound sets dst[b], b < B, to the lower bound on the log density of record b,
// in nats, at its local latents; its mean over draws of them is the bound that
// is fitted. It is for reconstructions alone.
func (p *Distribution) Bound(dst []float64) { copy(dst[:p.batch], p.spread(p.bound)) }

// Draw sets dst[j·B + b] to a draw of column j of observation i in record b: a number in
// the unit of the file, the index of a level, or NaN for a missing value.
func (p *Distribution) Draw(dst []float64, i int, rng dist.Rand) {
	p.DrawEach(dst, i, func(int) dist.Rand { return rng })
}

// DrawEach is Draw with separate random numbers for every record.
func (p *Distribution) DrawEach(dst []float64, i int, rng func(b int) dist.Rand) {
	o := &p.observed[i]
	if len(dst) < len(o.Columns)*p.batch {
		panic(fmt.Sprintf("predictive: Draw into %d numbers, want %d", len(dst), len(o.Columns)*p.batch))
	}
	value := make([]float64, len(o.Columns))
	for b := range p.batch {
		for k, out := range o.Inputs {
			gather(p.values[i][k], p.machine.Output(out), b, p.batch)
		}
		p.samplers[i](value, p.values[i], rng(b))
		for j := range o.Columns {
			dst[j*p.batch+b] = unit(o, j, value[j])
		}
	}
}

// gather copies record b's elements of an output, [size × B] or [size] for one
// that depends on no column.
func gather(dst, out []float64, b, batch int) {
	if len(out) == len(dst) {
		copy(dst, out)
		return
	}
	for e := range dst {
		dst[e] = out[e*batch+b]
	}
}

// unit turns an observed value of column j into the unit of the file.
func unit(o *models.Observation, j int, v float64) float64 {
	c := o.Columns[j]
	if o.Raw[j] || !c.Numeric() {
		return v
	}
	center, by := c.Scale()
	v = c.Untransformed(v*by + center)
	if c.Whole() {
		v = math.Round(v)
	}
	return v
}
