package guide

import (
	"fmt"
	"slices"
)

// Block gives some coordinates of θ a separate family, independent of all others.
type Block struct {
	Family string `json:"family"`
	At     []int  `json:"at"` // coordinates, none in two blocks
}

// Blocks is a product of families over disjoint sets of coordinates, such as a
// low-rank normal for what all records share and a mean field for the effects of
// many groups. λ = [m (P), the rest of the first family's λ, ...]; η are the
// families' η one after the other.
type Blocks struct {
	p, size, noise int
	parts          []part
}

// part is one family with its coordinates and its scratch space.
type part struct {
	Guide
	at                        []int
	rest, noise               int       // where its λ after the location, and its η begin
	lambda, pull              []float64 // V of the family
	theta, grad, perParameter []float64 // P of the family
}

// newBlocks returns the product of the family called name, for the coordinates
// that are in no block, and of the blocks.
func newBlocks(name string, latent int, opt Options) (*Blocks, error) {
	taken := make([]bool, latent)
	for _, b := range opt.Blocks {
		for _, i := range b.At {
			if i < 0 || i >= latent || taken[i] {
				return nil, fmt.Errorf("guide: coordinate %d of %d is in two blocks or in none", i, latent)
			}
			taken[i] = true
		}
	}
	var others []int
	for i, t := range taken {
		if !t {
			others = append(others, i)
		}
	}
	g := &Blocks{p: latent, size: latent}
	list := opt.Blocks
	if len(others) > 0 {
		list = append([]Block{{name, others}}, list...)
	}
	for _, b := range list {
		family, err := New(b.Family, len(b.At), Options{Rank: opt.Rank})
		if err != nil {
			return nil, err
		}
		p, v := len(b.At), family.Size()
		g.parts = append(g.parts, part{
			Guide: family, at: b.At, rest: g.size, noise: g.noise,
			lambda: make([]float64, v), pull: make([]float64, v),
			theta: make([]float64, p), grad: make([]float64, p), perParameter: make([]float64, p),
		})
		g.size += v - p
		g.noise += family.Noise()
	}
	return g, nil
}

// Name is the name of the family of the coordinates in no block.
func (g *Blocks) Name() string { return g.parts[0].Name() }

// Latent implements Guide.
func (g *Blocks) Latent() int { return g.p }

// Size implements Guide.
func (g *Blocks) Size() int { return g.size }

// Noise implements Guide.
func (g *Blocks) Noise() int { return g.noise }

// take sets the part's own λ from the whole.
func (p *part) take(lambda []float64) {
	for k, i := range p.at {
		p.lambda[k] = lambda[i]
	}
	n := len(p.at)
	copy(p.lambda[n:], lambda[p.rest:p.rest+len(p.lambda)-n])
}

// put sets the part of dst (V of the whole) that belongs to the part from own.
func (p *part) put(dst, own []float64) {
	for k, i := range p.at {
		dst[i] = own[k]
	}
	copy(dst[p.rest:], own[len(p.at):])
}

// eta is the part's own noise.
func (p *part) eta(eta []float64) []float64 { return eta[p.noise : p.noise+p.Noise()] }

// Init implements Guide.
func (g *Blocks) Init(lambda, mean []float64, scale float64) {
	for k := range g.parts {
		p := &g.parts[k]
		for j, i := range p.at {
			p.theta[j] = mean[i]
		}
		p.Guide.Init(p.lambda, p.theta, scale)
		p.put(lambda, p.lambda)
	}
}

// Draw implements Guide.
func (g *Blocks) Draw(theta, lambda, eta []float64) {
	for k := range g.parts {
		p := &g.parts[k]
		p.take(lambda)
		p.Guide.Draw(p.theta, p.lambda, p.eta(eta))
		for j, i := range p.at {
			theta[i] = p.theta[j]
		}
	}
}

// Pullback implements Guide: the entropy of a product is the sum of entropies.
func (g *Blocks) Pullback(dst, grad, lambda, eta []float64) {
	for k := range g.parts {
		p := &g.parts[k]
		p.take(lambda)
		for j, i := range p.at {
			p.grad[j] = grad[i]
		}
		p.Guide.Pullback(p.pull, p.grad, p.lambda, p.eta(eta))
		p.put(dst, p.pull)
	}
}

// SD implements Guide.
func (g *Blocks) SD(dst, lambda []float64) { g.each(dst, lambda, Guide.SD) }

// Precision implements Guide.
func (g *Blocks) Precision(dst, lambda []float64) { g.each(dst, lambda, Guide.Precision) }

// each sets dst (P) to the result of `of` for each family.
func (g *Blocks) each(dst, lambda []float64, of func(g Guide, dst, lambda []float64)) {
	for k := range g.parts {
		p := &g.parts[k]
		p.take(lambda)
		of(p.Guide, p.perParameter, p.lambda)
		for j, i := range p.at {
			dst[i] = p.perParameter[j]
		}
	}
}

// scored reports whether every family has a formula for its score.
func (g *Blocks) scored() bool {
	return !slices.ContainsFunc(g.parts, func(p part) bool { _, ok := p.Guide.(Scorer); return !ok })
}

// Score implements Scorer; every family must.
func (g *Blocks) Score(dst, lambda, eta []float64) {
	for k := range g.parts {
		p := &g.parts[k]
		p.take(lambda)
		p.Guide.(Scorer).Score(p.perParameter, p.lambda, p.eta(eta))
		for j, i := range p.at {
			dst[i] = p.perParameter[j]
		}
	}
}
