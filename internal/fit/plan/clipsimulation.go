package plan

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/formula"
	"d3p/internal/models/graph"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/simd"
	"d3p/internal/stats"
)

// lawRecords is the number of simulated records whose gradients have their norms computed.
const lawRecords = 4000

// clipQuantiles are those of the compared clip norms.
var clipQuantiles = []float64{0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 1}

// longer are multiples of the longest gradient's norm: real gradients may be longer.
var longer = []float64{1.4, 2, 2.8, 4, 5.6, 8}

// muchMore is the information, in nats, by which the best clip norm replaces that of a quantile.
// A clip norm against unlike responses may cost littleLess nats a parameter.
const muchMore, littleLess = 0.5, 0.01

// Responses with gradients unlike times as long as the model's at the quantile are unlike the model.
const unlike = 1.5

// A fit may clip gap times as many records as the target of the quantile, because its clip
// norm follows a noisy count.
const gap = 3

// chooseClippingBy fixes the clip norm if the quantile is poor under the law. With an
// outcome of 2 % most records have short gradients, and their quantile clips away the
// outcomes. A bound of all gradients takes the place of a quantile that is no better. The joint
// noise multiplier stays, and so does a quantile that the user gave.
// Effects count as 0: strong effects give the norms of counts heavy tails, which a quantile
// follows better than the law.
//
// Where the model ties the spread of counts to their mean, the gradients of the law's own counts decide,
// too. If these differ more than the model's, a clip norm for the model's cuts so much on one side that
// the intercept comes out wrong. So it is the norm that tells most about the law's, if the model can
// afford it, and else the longest that it can. But strong effects lengthen gradients in the same way at
// the start, and not later: a quantile, which follows them, stays unless that norm is longer.
func (p *Plan) chooseClippingBy(l *law.Law) {
	m := p.model
	if p.Clipping != settings.ClippingAdaptive || p.ClipQuantile != p.defaultQuantile() || m.Encoding.RowsPerUnit > 1 || m.Likelihood.AuxRecord > 0 {
		return
	}
	rng := noise.NewRandom(noise.Public(p.InitSeed).Child(4).Stream(noise.Initialisation))
	start := m.WithoutSlopes()
	g := gradientsOf(m.Likelihood, start, simulate.Records(m, start, lawRecords, l, rng), m.Encoding.K)
	if len(g.norms) == 0 {
		return
	}
	norms := []float64{stats.Quantile(g.norms, p.ClipQuantile), stats.Quantile(g.norms, max(0, 1-gap*(1-p.ClipQuantile))), p.ClipBound}
	for _, q := range clipQuantiles {
		norms = append(norms, stats.Quantile(g.norms, q))
	}
	for _, by := range longer {
		norms = append(norms, by*g.norms[len(g.norms)-1])
	}
	prior := m.PriorPrecision(rng)
	nats := p.informations(g, nil, prior, norms)
	own, follows, bound := nats[0], min(nats[0], nats[1]), nats[2]
	fix := func(c float64) {
		p.Clipping, p.ClipNorm, p.ClipQuantile = settings.ClippingFlat, c, 0
		p.SplitNoise()
	}
	if p.ClipBound > 0 && bound >= own {
		fix(p.ClipBound)
		return
	}
	all := norms[3:]
	best, most := furthest(all[:len(clipQuantiles)], nats[3:3+len(clipQuantiles)], 0)
	follow := most-follows < muchMore
	if p.tiesSpread() {
		ofLaw := gradientsOf(m.Likelihood, start, simulate.Apart(m, lawRecords, l, rng), m.Encoding.K)
		if len(ofLaw.norms) == 0 {
			return
		}
		affordable, _ := furthest(all, nats[3:], littleLess*float64(p.Latent))
		against, _ := furthest(all, p.informations(g, &ofLaw, prior, all), 0)
		best = max(best, min(against, affordable))
		real := stats.Quantile(ofLaw.norms, p.ClipQuantile)
		follow = (follow || real > unlike*norms[0]) && best < real
	}
	if follow || !(best > 0) {
		return
	}
	perDigit := math.Pow(10, 1-math.Floor(math.Log10(best)))
	fix(math.Ceil(best*perDigit) / perDigit)
}

// tiesSpread reports whether the spread of the response follows from its mean, which is no effect of
// a group's.
func (p *Plan) tiesSpread() bool {
	m := p.model.Spec.Model
	return m != nil && formula.FamilyOf(m.Family.V).Name == "poisson" && m.Terms != nil && len(m.Terms.Groups) == 0
}

// furthest is the largest of the clip norms whose information is at most short below that of the best one,
// and the information of the best one.
func furthest(norms, informations []float64, short float64) (norm, most float64) {
	most = slices.Max(informations)
	for i, c := range norms {
		if informations[i] >= most-short {
			norm = max(norm, c)
		}
	}
	return norm, most
}

// informations are the information of clipped and noisy sums about all parameters, in nats up to a constant,
// for each of the clip norms: half the log determinant of the posterior's precision, with prior
// (P) that of the prior. By the identity of information the sum of N records' clipped gradients
// changes by A = N E[clip(g)gᵀ] per unit of the parameters, so that this precision is
//
//	prior + A V⁻¹ A,  V = N E[clip(g)clip(g)ᵀ] + diag(N E[clip(g) − g])² + (C/μ)²:
//
// sampling, the bias (scores have mean 0) as if that of each parameter were unknown, and the noise
// of all steps. A sum of variances would pay for a direction that few records have with noise in
// all others. The bias is that of the gradients ofLaw, too, if it is larger; nil: of none.
func (p *Plan) informations(g gradients, ofLaw *gradients, prior, norms []float64) []float64 {
	order := make([]int, len(norms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(norms[i], norms[j]) })
	nats, n := make([]float64, len(norms)), float64(p.Records)/float64(len(g.rows))
	whole, clipped, from := newGradientSums(p.Latent), newGradientSums(p.Latent), 0
	clipped.add(1, g.rows, g.norms)
	lost := make([]float64, p.Latent)
	for _, i := range order {
		c := norms[i]
		to := from
		for to < len(g.norms) && g.norms[to] <= c {
			to++
		}
		whole.add(1, g.rows[from:to], g.norms[from:to])
		clipped.add(-1, g.rows[from:to], g.norms[from:to])
		from = to
		if ofLaw != nil {
			lost = ofLaw.lost(c)
		}
		a, v := mat.NewSymDense(p.Latent, nil), mat.NewSymDense(p.Latent, nil)
		for j := range p.Latent {
			for k := range j + 1 {
				a.SetSym(j, k, n*(whole.squares.At(j, k)+c*clipped.perNorm.At(j, k)))
				v.SetSym(j, k, n*(whole.squares.At(j, k)+c*c*clipped.perSquare.At(j, k)))
			}
			bias := max(n*math.Abs(c*clipped.units[j]-clipped.sum[j]), float64(p.Records)*lost[j])
			v.SetSym(j, j, v.At(j, j)+bias*bias+c*c/(p.Mu*p.Mu))
		}
		nats[i] = informationOf(a, v, prior)
	}
	return nats
}

// lost are the sizes (P) of what clipping with the norm c takes from the mean gradient, beyond chance.
func (g gradients) lost(c float64) []float64 {
	p, n := len(g.rows[0]), float64(len(g.rows))
	mean, square := make([]float64, p), make([]float64, p)
	for i, norm := range g.norms {
		if norm <= c {
			continue
		}
		for j, x := range g.rows[i] {
			x *= (1 - c/norm) / n
			mean[j] += x
			square[j] += x * x
		}
	}
	for j, x := range mean {
		mean[j] = math.Sqrt(max(0, x*x-(square[j]-x*x/n)))
	}
	return mean
}

// gradientSums are, over gradients g, the sums of g, g/|g| (P), and of ggᵀ, ggᵀ/|g| and ggᵀ/|g|² (P×P).
type gradientSums struct {
	sum, units                  []float64
	squares, perNorm, perSquare *mat.SymDense
}

func newGradientSums(p int) *gradientSums {
	return &gradientSums{make([]float64, p), make([]float64, p), mat.NewSymDense(p, nil), mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)}
}

// add adds by times the sums over rows (n×P), whose norms are above 0.
func (s *gradientSums) add(by float64, rows [][]float64, norms []float64) {
	if len(rows) == 0 {
		return
	}
	scaled := mat.NewDense(len(rows), len(s.sum), nil)
	for power, square := range []*mat.SymDense{s.squares, s.perNorm, s.perSquare} {
		for i, row := range rows {
			to := scaled.RawRowView(i)
			factor := math.Pow(norms[i], -float64(power)/2)
			for j, x := range row {
				to[j] = factor * x
			}
		}
		var of mat.SymDense
		of.SymOuterK(by, scaled.T())
		square.AddSym(square, &of)
	}
	for i, row := range rows {
		simd.Axpy(s.sum, by, row)
		simd.Axpy(s.units, by/norms[i], row)
	}
}

// informationOf is half the log determinant of diag(prior) + a v⁻¹ a.
func informationOf(a, v *mat.SymDense, prior []float64) float64 {
	var c mat.Cholesky
	if !c.Factorize(v) {
		return math.Inf(-1)
	}
	var solved, product mat.Dense
	if c.SolveTo(&solved, a) != nil {
		return math.Inf(-1)
	}
	product.Mul(a, &solved)
	precision := mat.NewSymDense(len(prior), nil)
	for j := range prior {
		for k := range j + 1 {
			precision.SetSym(j, k, (product.At(j, k)+product.At(k, j))/2)
		}
		precision.SetSym(j, j, precision.At(j, j)+prior[j])
	}
	if !c.Factorize(precision) {
		return math.Inf(-1)
	}
	return c.LogDet() / 2
}

// gradients are the gradients of simulated records and their norms above 0, in rising order of the norms.
type gradients struct {
	rows  [][]float64 // each (P)
	norms []float64
}

// gradientsOf are the finite gradients at theta of encoded records with k columns.
func gradientsOf(t *graph.Tape, theta, records []float64, k int) gradients {
	var rows [][]float64
	const batch = 400
	machine := graph.NewMachine(t, batch)
	machine.Globals(theta, nil)
	for ; len(records) >= k; records = records[min(len(records), batch*k):] {
		b := min(batch, len(records)/k)
		machine.Records(records[:b*k], k, b, nil)
		for r := range b {
			row := make([]float64, t.P)
			if machine.Gradient(r, row); simd.Finite(row) && normOf(row) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return sorted(rows)
}

// sorted are the gradients in the order of their norms.
func sorted(rows [][]float64) gradients {
	g := gradients{rows: slices.SortedFunc(slices.Values(rows), func(a, b []float64) int { return cmp.Compare(normOf(a), normOf(b)) })}
	for _, row := range g.rows {
		g.norms = append(g.norms, normOf(row))
	}
	return g
}

func normOf(x []float64) float64 { return math.Sqrt(simd.Dot(x, x)) }
