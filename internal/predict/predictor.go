package predict

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/models/predictive"
	"d3p/internal/stats"
)

// predictor evaluates the model for a block of rows at every draw.
type predictor struct {
	m         *models.Model
	posterior Posterior
	targets   []Target
	machine   *predictive.Distribution
	block     int // rows that are predicted together
	rng       dist.Rand
	// drawLevels makes responses of categories, too.
	drawLevels bool

	theta     []float64
	hasMean   []bool      // by observation
	means     [][]float64 // by target: [block x S]
	responses [][]float64 // by target: [block x S]
	levels    [][]float64 // by target that is a category: sums over draws, [level x block]
	arrays    [][]float64 // by observation that is an array: sums over draws, [element x block]
	bounds    []float64   // sums over draws, [block]
	n         int         // rows of the current block

	lanes, drawn []float64 // of one observation in one block
}

func newPredictor(m *models.Model, posterior Posterior, rng dist.Rand) *predictor {
	p := &predictor{
		m: m, posterior: posterior, targets: Targets(m), rng: rng, theta: make([]float64, m.P), hasMean: make([]bool, len(m.Observed)),
		arrays: make([][]float64, len(m.Observed)), block: m.Predict.BatchSize(),
	}
	if m.Reconstruct != nil {
		p.block = m.Reconstruct.BatchSize()
		p.machine = predictive.NewReconstruction(m, p.block)
	} else {
		p.machine = predictive.New(m, p.block)
	}
	block := p.block
	p.bounds = make([]float64, block)
	widest := 1
	for i := range m.Observed {
		o := &m.Observed[i]
		widest = max(widest, len(o.Columns))
		if m.Spec.Data.Tensor(o.Name) != nil {
			p.arrays[i] = make([]float64, block*len(o.Columns))
		}
	}
	for _, t := range p.targets {
		widest = max(widest, t.Levels)
		p.means = append(p.means, make([]float64, block*posterior.S))
		p.responses = append(p.responses, make([]float64, block*posterior.S))
		p.levels = append(p.levels, make([]float64, block*t.Levels))
	}
	p.lanes, p.drawn = make([]float64, block*widest), make([]float64, block*widest)
	return p
}

// each runs all rows and calls emit for each in order: row of all, b of its block.
func (p *predictor) each(rows Rows, emit func(row, b int) error) error {
	for first := 0; first < rows.N; first += p.block {
		n := min(p.block, rows.N-first)
		p.run(rows.Data[first*rows.Stride:], rows.Stride, n)
		for b := range n {
			if err := emit(first+b, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// run evaluates n rows at every draw. At a point without local latents one
// evaluation serves all responses.
func (p *predictor) run(data []float64, stride, n int) {
	for _, sums := range slices.Concat(p.levels, p.arrays, [][]float64{p.bounds}) {
		clear(sums)
	}
	p.n = n
	random := p.machine.Random()
	for s := range p.posterior.S {
		again := s > 0 && p.posterior.Point
		if !again {
			p.posterior.Draw(p.theta, s)
			p.machine.Set(p.theta)
		}
		if !again || random {
			p.machine.Latents(p.rng)
			p.machine.Records(data, stride, n)
		}
		p.collect(s, n)
	}
}

// collect takes the machine's results at draw s for n rows.
func (p *predictor) collect(s, n int) {
	for i, sums := range p.arrays {
		if sums != nil && p.machine.Mean(p.lanes, i) {
			add(sums, p.lanes[:n*len(p.m.Observed[i].Columns)])
		}
	}
	for t, target := range p.targets {
		i := target.Observation
		if target.Column == 0 { // the first of its observation
			p.hasMean[i] = p.machine.Mean(p.lanes, i)
			if target.Levels == 0 || p.drawLevels {
				p.machine.Draw(p.drawn, i, p.rng)
			}
		}
		from, to := target.Column*n, (target.Column+1)*n
		if p.hasMean[i] {
			scatter(p.means[t], p.lanes[from:to], s, p.posterior.S)
		}
		if target.Levels == 0 || p.drawLevels {
			scatter(p.responses[t], p.drawn[from:to], s, p.posterior.S)
		}
		if target.Levels > 0 {
			p.machine.Levels(p.lanes, i)
			add(p.levels[t], p.lanes[:n*target.Levels])
		}
	}
	if p.m.Reconstruct != nil {
		p.machine.Bound(p.lanes)
		add(p.bounds, p.lanes[:n])
	}
}

// add adds lanes to sums.
func add(sums, lanes []float64) {
	for i, x := range lanes {
		sums[i] += x
	}
}

// scatter puts draw s of every row in its place.
func scatter(dst, lanes []float64, s, draws int) {
	for b, x := range lanes {
		dst[b*draws+s] = x
	}
}

// average sets dst to the means over draws of the elements of row b, given their
// sums, [element x n].
func (p *predictor) average(dst, sums []float64, elements, b int) []float64 {
	dst = dst[:0]
	for e := range elements {
		dst = append(dst, sums[e*p.n+b]/float64(p.posterior.S))
	}
	return dst
}

// summary sets the prediction of target t of row b.
func (p *predictor) summary(r *Summary, t, b int) {
	target := p.targets[t]
	*r = Summary{HasMean: p.hasMean[target.Observation], Levels: p.average(r.Levels, p.levels[t], target.Levels, b)}
	from, to := b*p.posterior.S, (b+1)*p.posterior.S
	if r.HasMean {
		if r.Interval = intervalOf(p.means[t][from:to], p.posterior.Prob); p.posterior.Point && !p.machine.Random() {
			r.Interval = r.Interval.ofPoint()
		}
	}
	if target.Levels == 0 {
		y := p.responses[t][from:to]
		slices.Sort(y)
		r.YLower, r.YUpper = stats.Central(y, p.posterior.Prob)
	}
}
