package models

import "slices"

// reconstruction is the forward-only graph of a whole record whose local latents
// are drawn from their guide: the outputs of Predict, and last the lower bound
// on log p(record) at the drawn latents.
func (c *compiler) reconstruction(m *Model) *build {
	g := c.build()
	g.guided = true
	g.rows()
	g.predict(slices.Clone(m.Observed)) // at the places that predictions gave them
	g.put(g.logLikelihood(nil))
	return g
}

// NewReconstruction prepares reconstructions of whole records for batches of up
// to maxB: their local latents are at the means of the guide, or drawn from it
// after Latents. Records are encoded by Encoding. It must not be called for a
// model without local latents.
func (m *Model) NewReconstruction(maxB int) *Predictive {
	p := m.newPredictive(m.Reconstruct, maxB)
	p.bound = len(m.Reconstruct.Outputs) - 1
	return p
}

// Bound sets dst[b], b < B, to the lower bound on the log density of record b,
// in nats, at its local latents; its mean over draws of them is the bound that
// is fitted. It is for reconstructions alone.
func (p *Predictive) Bound(dst []float64) { copy(dst[:p.batch], p.spread(p.bound)) }
