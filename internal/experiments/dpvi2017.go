package main

import (
	"math"
	"slices"
	"sync"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/report/figure"
)

// dpvi2017 fits a mixture by DP-VI in its first form, with the settings of the authors' program
// for this mixture: the gradients of a record's log likelihood with respect to λ = (m, log s),
// 2P numbers, are clipped for each of four draws of θ = m + s∘η and averaged; prior and entropy
// are outside; Adagrad with steps of its own for each parameter forgets every ten steps; λ starts
// at 0, and the last iterate counts. Batches are Poisson samples, for which the paper accounts;
// its program draws with replacement. Jälkö, Dikmen and Honkela 2017, arXiv:1610.08749.
type dpvi2017 struct {
	model     *models.Model
	machine   *graph.Machine
	prior     *models.PriorDensity
	rows      [][]float64
	stepSizes []float64 // of λ
}

// Settings of the authors' program, in which the noise has the standard deviation 2σC.
const (
	mixtureSteps, mixtureRate, mixtureClip = 1000, 0.003, 1.0
	mixtureDraws, mixtureRestart           = 4, 10
	mixtureDelta, mixtureRecords           = 1e-3, 2000
)

func newDPVI2017(r replicate) (*dpvi2017, error) {
	m, err := models.Read("gmm.yaml", []byte(r.model), nil)
	if err != nil {
		return nil, err
	}
	d := &dpvi2017{model: m, machine: graph.NewMachine(m.Likelihood, len(r.train.rows)), prior: m.NewPriorDensity(), rows: r.train.rows, stepSizes: make([]float64, m.P)}
	for _, p := range m.Params {
		for j := range p.Size {
			d.stepSizes[p.Offset+j] = map[string]float64{"pis": 0.01, "mus": 0.2, "sigs": 0.05}[p.Name]
		}
	}
	d.stepSizes = append(d.stepSizes, d.stepSizes...)
	return d, nil
}

// fit is λ after all steps.
func (d *dpvi2017) fit(multiplier float64, rng *noise.Random) []float64 {
	lambda, gradient, squares := make([]float64, 2*d.model.P), make([]float64, 2*d.model.P), make([]float64, 2*d.model.P)
	for t := range mixtureSteps {
		if t%mixtureRestart == 0 {
			for j := range squares {
				squares[j] = 0.1
			}
		}
		var batch []float64
		for _, row := range d.rows {
			if rng.Uniform() < mixtureRate {
				batch = append(batch, row...)
			}
		}
		d.gradient(gradient, lambda, batch, rng)
		for j, g := range gradient {
			g += multiplier * mixtureClip / mixtureRate * rng.Normal()
			squares[j] += g * g
			lambda[j] += d.stepSizes[j] * g / math.Sqrt(squares[j]+0.001)
		}
	}
	return lambda
}

// gradient sets dst to the estimate from a batch, without noise, of the bound's gradient.
func (d *dpvi2017) gradient(dst, lambda, batch []float64, rng *noise.Random) {
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
	for range mixtureDraws {
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
			add(1/mixtureRate/mixtureDraws, mixtureClip)
		}
		d.prior.Gradient(g, theta)
		add(1.0/mixtureDraws, math.Inf(1))
	}
	for j := range p {
		dst[p+j]++ // of the entropy Σ log s
	}
}

// score is the log density of held-out points under draws of the mean field λ.
func (d *dpvi2017) score(r replicate, lambda []float64, rng *noise.Random) (float64, error) {
	at, err := index(d.model.Names(), mixtureNames()...)
	if err != nil {
		return 0, err
	}
	p := d.model.P
	draws := make([][]float64, mixtureScored)
	theta, values := make([]float64, p), make([]float64, d.model.Constrained)
	for i := range draws {
		for j := range theta {
			theta[j] = lambda[j] + math.Exp(lambda[p+j])*rng.Normal()
		}
		d.model.Constrain(values, theta)
		for _, j := range at {
			draws[i] = append(draws[i], values[j])
		}
	}
	return mixtureDensity(r.test.rows, draws), nil
}

// dpvi2017Curve is the algorithm at the noise that its price allows.
func dpvi2017Curve(shared string, epsilons []float64) curve {
	load := sync.OnceValues(func() ([]replicate, error) { return loadGMM(shared) })
	return curve{"DP-VI of 2017, by its authors' settings", epsilons, func(_ options, epsilon float64, k int, _ string) (float64, error) {
		replicates, err := load()
		if err != nil {
			return 0, err
		}
		d, err := newDPVI2017(replicates[0])
		if err != nil {
			return 0, err
		}
		found, err := accountant.CalibrateNoise(accountant.Target{Epsilon: epsilon, Delta: mixtureDelta}, event.AddRemove, poissonMixture)
		if err != nil {
			return 0, err
		}
		rng := noise.NewRandom(noise.Public(uint64(k)).Stream(noise.Simulation))
		return d.score(replicates[0], d.fit(found.NoiseMultiplier, rng), rng)
	}}
}

func poissonMixture(sigma float64) event.Event {
	return event.SelfComposed{Of: event.PoissonSampled{Rate: mixtureRate, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: mixtureSteps}
}

// fixedMixture is what the Python package ran: batches without replacement.
func fixedMixture(sigma float64) event.Event {
	batch := int(mixtureRate * mixtureRecords)
	return event.SelfComposed{Of: event.FixedSizeSampled{Population: mixtureRecords, Batch: batch, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: mixtureSteps}
}

// publishedMixtures are the log densities of figure 7 of Prediger et al. 2022, five fits at each
// noise, from its authors' files (github.com/PROBIC/d3p-paper-experiments, GMM). They stand at
// the price of what ran, and are moved by the difference of the truths of the paper's 100 points
// and ours.
func publishedMixtures() ([]figure.Series, error) {
	sigmas := []float64{18.715989, 6.6280796, 2.7361155, 1.4056973, 0.88870639} // epsilon 0.1 to 10 by advanced composition
	const truthOfPaper = -3.6757
	published := []struct {
		name     string
		relation event.Relation
		event    func(sigma float64) event.Event
		values   [][]float64
	}{
		{"published, DP-VI of 2017", event.AddRemove, func(sigma float64) event.Event { return poissonMixture(2 * sigma) }, [][]float64{
			{-11.42971038, -4.8113311, -4.65864338, -5.27777462, -7.1753559}, {-4.65527248, -5.27612701, -5.43250062, -5.79374309, -5.54345646},
			{-4.29964187, -4.39981832, -4.4642697, -5.2683753, -5.04303381}, {-4.69950013, -4.18638351, -4.39853938, -4.36092324, -4.37350784},
			{-4.0817773, -4.21244576, -4.10167541, -4.31932219, -4.72075278}}},
		{"published, Python package", event.Substitute, fixedMixture, [][]float64{
			{-4.4847908, -4.44759703, -4.47281551, -4.49270773, -4.48615122}, {-4.40677691, -4.37719107, -4.39284039, -4.41383791, -4.41027117},
			{-4.31574821, -4.30117416, -4.30733776, -4.32190752, -4.32215166}, {-4.2643795, -4.25697184, -4.26090097, -4.26918411, -4.27014256},
			{-4.23689127, -4.23124218, -4.23491335, -4.24083185, -4.24143028}}},
	}
	var list []figure.Series
	for _, p := range published {
		s := figure.Series{Name: p.name}
		for i, sigma := range sigmas {
			price, err := accountant.Epsilon(p.event(sigma), p.relation, mixtureDelta)
			if err != nil {
				return nil, err
			}
			mean, se := meanSE(p.values[i])
			s.Points = append(s.Points, figure.Measured{X: price.Upper, Mean: mean + gmmReferenceTruth - truthOfPaper, SE: se})
		}
		s.Points = slices.DeleteFunc(s.Points, func(m figure.Measured) bool { return m.X < mixtureLeast })
		list = append(list, s)
	}
	return list, nil
}

// mixtureLeast is the least epsilon in the figure.
const mixtureLeast = 0.005
