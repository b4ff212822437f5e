package posterior

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/graph"
	"d3p/internal/simd"
)

// moments are the model's moments of f, the mean released gradient, over true parameters
// θ* that are spread about a point: by statistical linearisation (Särkkä 2013, Bayesian
// filtering and smoothing, section 5.1)
//
//	E[f | θ*] = mean + slope·(φ(θ*) − point),  Var[f | θ*] = variance + v̄ I,
//
// with φ of effects.
type moments struct {
	effects
	point    []float64     // P, the mean of φ
	mean     []float64     // P
	slope    *mat.Dense    // P×P, the mean of the slopes
	variance *mat.SymDense // P×P, of the records' sampling, and of the part that is not linear
}

// noisy is the variance with that of the privacy noise, v in each coordinate.
func (x moments) noisy(v float64) *mat.SymDense {
	out := mat.NewSymDense(len(x.point), nil)
	out.CopySym(x.variance)
	for j := range x.point {
		out.SetSym(j, j, out.At(j, j)*(1+1e-9)+v)
	}
	return out
}

// slopeRecords is the least number of simulated records for slope and variance, and for the mean
// while the point is sought, mostSlopeRecords the largest, see recordsOfSlope. At last the mean is
// taken over meanRecords times as many records as the plan has, at most mostSimulated: then chance
// moves it by less than the records themselves do.
const slopeRecords, mostSlopeRecords, meanRecords, mostSimulated = 4000, 20000, 4, 100000

// mostProducts bounds the products that the records of recordsOfSlope add to the slope: each as many as its gradient
// has entries that are not 0, times P.
const mostProducts = mostSlopeRecords * 128 * 128

// recordsOfSlope is as many simulated records as the plan has, within these limits: chance of fewer
// is more than that of the records, which large epsilons show. Of 300,000 records with 1.3 % of
// events in 20 groups (ε = 8) a slope had the standard deviation .65 with 4000, with 52 events, .02
// with 20,000, and .018 without privacy. Of 30,000 records in 700 groups (ε = 4) one had .009 to .09 with 4000,
// six of a group, and .008 with 20,000.
func (s simulation) recordsOfSlope(records int) int {
	most := max(slopeRecords, min(mostSlopeRecords, mostProducts/(s.model.P*cmp.Or(s.entries, s.model.P))))
	return min(max(slopeRecords, records), most)
}

// momentsAt simulates total records, each batch at another one of the truths, and
// takes the moments of as many as the plan has:
//
//	mean = N E[c] − o,  slope = N E[c sᵀ],  variance = (1 + k) N √D Var[c] √D + that of r,
//
// with k of Plan.BatchVariance, the design effects D and scores s in φ. They have mean 0 and are control variates of the mean. r is
// the mean of a truth beyond the linear one, half of the difference between its slope
// and the mean one. o, of the residual standard deviation alone, is the optimism of truths that f itself has told
// (Efron 2004, J. Amer. Statist. Assoc. 99):
//
//	o = E[Var[f | θ*] g (φ(θ*) − point)],
//
// with the gain g. Without it effects take two degrees of freedom each, and sigma was 1.7 % too small beside 150 of
// 8000 records. Means that are not linear in effects do not move by the gain: of logistic fits o would be too large.
func (s simulation) momentsAt(truths func(i int) []float64, e effects, places [][]place, records, total int) moments {
	sums := s.sum(truths, e, places, s.recordsOfSlope(records), total)
	n, p := float64(records), s.model.P
	out := moments{effects: e, point: sums.point, mean: sums.c, slope: sums.cs, variance: mat.NewSymDense(p, nil)}
	information := mat.NewSymDense(p, nil)
	for i := range p {
		for j := range i + 1 {
			information.SetSym(i, j, sums.ss.At(i, j))
			out.variance.SetSym(i, j, math.Sqrt(s.designEffects.in(i)*s.designEffects.in(j))*(1+s.batches)*n/sums.first*sums.cc.At(i, j))
		}
		// a ridge keeps out directions in which no record has a gradient
		information.SetSym(i, i, information.At(i, i)*(1+1e-6)+1e-12)
	}
	var c mat.Cholesky
	var coefficients, byChance mat.VecDense
	if simd.Finite(information.RawSymmetric().Data) && c.Factorize(information) &&
		c.SolveVecTo(&coefficients, mat.NewVecDense(p, sums.s)) == nil {
		byChance.MulVec(sums.cs, &coefficients)
		simd.Sub(out.mean, out.mean, byChance.RawVector().Data)
	}
	if at := residualSD(s.model); at >= 0 {
		out.mean[at] -= (1 + s.batches) * math.Sqrt(s.designEffects.in(at)) * sums.optimism
	}
	simd.MulScalar(out.mean, out.mean, n/sums.records)
	out.slope.Scale(n/sums.first, out.slope)
	out.addRemainder(sums, n)
	return out
}

// addRemainder adds the variance of r. In each coordinate only that part of r counts
// in which two halves of a batch agree: the rest is chance of few records.
func (x *moments) addRemainder(sums recordSums, n float64) {
	p, count := len(x.point), len(sums.batches)
	if count < 2 {
		return
	}
	r := mat.NewDense(count, p, nil)
	agreed, square := make([]float64, p), make([]float64, p)
	var linear mat.VecDense
	for k, b := range sums.batches {
		linear.MulVec(x.slope, mat.NewVecDense(p, b.delta))
		for j := range p {
			first, second := n/b.records*b.halves[0][j]-linear.AtVec(j)/2, n/b.records*b.halves[1][j]-linear.AtVec(j)/2
			mean := (first + second) / 2
			r.Set(k, j, mean)
			agreed[j], square[j] = agreed[j]+first*second, square[j]+mean*mean
		}
	}
	for j := range p {
		part := 0.0
		if square[j] > 0 {
			part = math.Sqrt(math.Max(0, math.Min(1, agreed[j]/square[j])))
		}
		for k := range count {
			r.Set(k, j, part*r.At(k, j))
		}
	}
	for k := range count {
		x.variance.SymRankOne(x.variance, 1/float64(count), r.RowView(k))
	}
}

// recordSums are sums over simulated records: of c, the clipped gradient averaged
// over the places of its batch, and of s, the score at the truth in φ. Products are sums over the
// first records only; those of c with itself are about the mean of its batch.
type recordSums struct {
	point          []float64 // the mean φ of all truths, which is δ from that of a batch
	records, first float64
	c, s           []float64
	optimism       float64 // Σ (c_σ − c̄_σ) (c − c̄)ᵀ √D g δ
	cs, ss, cc     *mat.Dense
	batches        []batchSums
}

// batchSums are the sums of a batch.
type batchSums struct {
	delta   []float64 // φ of its truth less the mean one
	records float64
	halves  [2][]float64 // (P) Σ c sᵀδ over half of its records
}

// sum simulates total records, and adds up the products of the first ones. A record without a finite score
// is left out.
func (s simulation) sum(truths func(i int) []float64, e effects, places [][]place, first, total int) recordSums {
	m, rng, p := s.model, s.random(), s.model.P
	machine := graph.NewMachine(m.Likelihood, simulationBatch)
	square := func() *mat.Dense { return mat.NewDense(p, p, nil) }
	all := recordSums{point: make([]float64, p), c: make([]float64, p), s: make([]float64, p), cs: square(), cc: square(), ss: square()}
	c, score := mat.NewDense(simulationBatch, p, nil), mat.NewDense(simulationBatch, p, nil)
	phi, mean, delta := make([]float64, p), make([]float64, p), make([]float64, p)
	var product mat.Dense
	batches := total / simulationBatch
	for i := range batches {
		e.phi(phi, truths(i))
		simd.Axpy(all.point, 1/float64(batches), phi)
	}
	for i := range batches {
		truth := truths(i)
		runAt(machine, m, truth, s.law, rng, score)
		for r := range simulationBatch {
			e.pull(score.RawRowView(r), truth)
		}
		s.addClipped(c, machine, places[i%len(places)])
		count := 0.0
		clear(mean)
		for r := range simulationBatch {
			if !simd.Finite(score.RawRowView(r)) {
				clear(score.RawRowView(r))
				clear(c.RawRowView(r))
				continue
			}
			count++
			simd.Add(mean, mean, c.RawRowView(r))
			simd.Add(all.s, all.s, score.RawRowView(r))
		}
		simd.Add(all.c, all.c, mean)
		all.records += count
		e.phi(phi, truth)
		simd.Sub(delta, phi, all.point)
		all.optimism += s.optimism(c, mean, count, delta)
		if i*simulationBatch >= first {
			continue
		}
		all.first += count
		batch := batchSums{delta: slices.Clone(delta), records: count, halves: [2][]float64{make([]float64, p), make([]float64, p)}}
		for r := range simulationBatch {
			simd.Axpy(batch.halves[2*r/simulationBatch], simd.Dot(score.RawRowView(r), delta), c.RawRowView(r))
		}
		all.batches = append(all.batches, batch)
		product.Mul(c.T(), score)
		all.cs.Add(all.cs, &product)
		product.Mul(score.T(), score)
		all.ss.Add(all.ss, &product)
		product.Mul(c.T(), c)
		all.cc.Add(all.cc, &product)
		product.Outer(1/count, mat.NewVecDense(p, mean), mat.NewVecDense(p, mean))
		all.cc.Sub(all.cc, &product)
	}
	return all
}

// optimism is Σ (c_σ − c̄_σ) (c − c̄)ᵀ √D g δ of a batch of count rows c with the sum mean, at the truth δ.
func (s simulation) optimism(c *mat.Dense, mean []float64, count float64, delta []float64) float64 {
	at := residualSD(s.model)
	if s.gain == nil || at < 0 || count == 0 {
		return 0
	}
	var moved mat.VecDense
	moved.MulVec(s.gain, mat.NewVecDense(len(delta), delta))
	w := moved.RawVector().Data
	for j := range w {
		w[j] *= math.Sqrt(s.designEffects.in(j))
	}
	sum := -mean[at] * simd.Dot(mean, w) / count
	for r := range simulationBatch {
		sum += c.At(r, at) * simd.Dot(c.RawRowView(r), w)
	}
	return sum
}

// addClipped sets row r of c to the clipped gradient of record r of the machine's last
// batch, averaged over the places. A gradient that is not finite counts as zero, as in a
// fit.
func (s simulation) addClipped(c *mat.Dense, machine *graph.Machine, places []place) {
	g := make([]float64, s.model.P)
	c.Zero()
	for _, at := range places {
		machine.Globals(at.theta, nil)
		machine.Again()
		for r := range simulationBatch {
			if machine.Gradient(r, g); simd.Finite(g) {
				simd.Axpy(c.RawRowView(r), clipFactor(g, at.clipNorm)/float64(len(places)), g)
			}
		}
	}
}
