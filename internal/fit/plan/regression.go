package plan

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/special"
	"d3p/internal/models/whiten"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/settings"
	"d3p/internal/stats"
	"d3p/internal/sufficient"
	"d3p/internal/table1"
)

// regressionSteps is the number of steps of a fit by second moments. Each is a Newton step
// with all records. The first ones start far away, and their gradients are noisy.
const regressionSteps = 8

// ClippingByMoments is the clipping of a fit by second moments. Each step's clip norm
// follows from earlier releases.
const ClippingByMoments = "moments"

// Regression has the constants of a fit by second moments. x = (1, columns) are the columns
// of the first whitened coordinates, in which the moments were bought. There y = xγ + e is
// in units of Unit around the law's regression.
//
//	γ = Base·(φ_Intercept, φ_b),  log s = LogUnit + φ_sigma
type Regression struct {
	Moments []*sufficient.Moments // by stats.Shapes of the errors
	Base    *mat.Dense            // (K+1 × K+1)
	Inverse *mat.Dense            // of Base
	LogUnit float64
	// Places are the places of Intercept and coefficients in φ, Sigma that of sigma.
	Places []int
	Sigma  int
	// Rows are the x of records drawn from the law, each K+1. They have the bought moments,
	// unless these are weak.
	Rows []float64
	// Errors are errors of the rows, by stats.Shapes.
	Errors []ShapeErrors
}

// ShapeErrors are errors of one shape, two of each row of a regression: of record i at 2i and
// 2i+1.
type ShapeErrors struct {
	// Error is by its standard deviation, Score minus the derivative of its log density.
	Error, Score []float64
}

// Regression has the constants of a plan by second moments after their purchase; else it is
// nil.
func (p *Plan) Regression() *Regression { return p.regression }

// ByMoments reports whether the fit is one by second moments.
func (p *Plan) ByMoments() bool { return p.NoiseAware == settings.NoiseAwareMoments }

// mostSecondNoise is the noise of second moments, by record, above which a fit by steps has
// more information: it spends on the coefficients what the moments spend on the correlations. Of 6 kinds
// of tables (N = 300, ε = 1; N = 1000, ε = 0.3; noise .11) its intervals hold as often and are
// from .1 to .7 times as wide; at .057 (N = 600, ε = 1) those by moments hold more often
// (docs/results/cells.txt).
const mostSecondNoise = 0.08

// momentsAreClear reports whether second moments have little noise at the price that cfg states.
func momentsAreClear(r *table1.Regression, cfg Config) bool {
	p := &Plan{Records: cfg.Records, Delta: cmp.Or(cfg.Delta, DefaultDelta(cfg.Records)), Neighbours: event.Relation(cmp.Or(cfg.Neighbours, string(event.AddRemove)))}
	p.setBudget(cfg.Epsilon)
	return r.SecondNoise(p.Signal()) <= mostSecondNoise
}

// regresses reports whether the fit of m is one by second moments: the user asked for it,
// or it is possible, the user chose nothing that contradicts it, and they are clear.
func regresses(m *models.Model, cfg Config) bool {
	if cfg.NonPrivate || cfg.NoiseMultiplier > 0 || cfg.NoiseSchedule != "" || cfg.BatchSchedule != "" || cfg.ClipNormSchedule != "" || cfg.ClipGroups != "" || cfg.Compat != "" {
		return false
	}
	r := table1.RegressionOf(m)
	if r == nil {
		return false
	}
	if cfg.NoiseAware == settings.NoiseAwareMoments {
		return true
	}
	return cfg.NoiseAware == "" && cfg.Table1 == settings.Auto &&
		(cfg.Sampling == "" || cfg.Sampling == sampler.Full) && cfg.Batches == "" && cfg.SamplingRate == 0 && cfg.BatchSize == 0 && cfg.Steps == 0 && cfg.Epochs == 0 &&
		cfg.Clipping == "" && cfg.ClipNorm == 0 && cfg.ClipQuantile == 0 &&
		cfg.Optimizer == "" && cfg.LearningRate == 0 && cfg.Schedule == "" && cfg.Momentum == 0 && cfg.WeightDecay == 0 &&
		cmp.Or(cfg.Guide, guide.MeanFieldName) == guide.MeanFieldName && cfg.InitScale == 0 && cfg.Gradient == "" && cfg.Averaging == nil &&
		momentsAreClear(r, cfg)
}

// withRegression is cfg with the settings of a fit by second moments.
func withRegression(cfg Config) Config {
	average := 0.0
	cfg.NoiseAware, cfg.Sampling, cfg.Averaging = settings.NoiseAwareMoments, sampler.Full, &average
	if cfg.Steps == 0 && cfg.Epochs == 0 {
		cfg.Steps = regressionSteps
	}
	cfg.Table1 = cmp.Or(cfg.Table1, settings.Auto)
	return cfg
}

// Random is a public generator for one purpose of the regression.
func (p *Plan) Random(child uint64) *noise.Random {
	return noise.NewRandom(noise.Public(p.InitSeed).Child(child).Stream(noise.Initialisation))
}

// SecondDesign is the design whose second moments the plan buys after Table 1, in the
// whitened coordinates of p's model.
func (p *Plan) SecondDesign() privacy.Design {
	r, second := table1.RegressionOf(p.model), p.Purchase.Second()
	if second.Bound == 0 {
		second.Bound = p.secondBound(r, second.Noise)
	}
	return r.Design(p.model.Coordinates(), second.Bound, second.Noise)
}

// regressionRows are x and the response in units, of records drawn from the law.
func (p *Plan) regressionRows(r *table1.Regression, c *models.Coordinates) (x, y []float64) {
	base, err := models.Compile(p.model.Spec)
	if err != nil {
		panic("plan: a compiled model does not compile: " + err.Error())
	}
	design, response := whiten.Rows(base, p.Law(), p.Random(6))
	k := r.Columns()
	d := r.Design(c, 1, 1).Map
	for i := range response {
		row := append(append([]float64{1}, design[i*k:(i+1)*k]...), response[i])
		for j, weights := range d {
			sum := 0.0
			for l, w := range weights {
				sum += w * row[l]
			}
			if j <= k {
				x = append(x, sum)
			} else {
				y = append(y, sum)
			}
		}
	}
	return x, y
}

// secondBound is the bound on a record's moments with the least mean squared error under the law, relative to
// the part of the moments that it keeps. One part of the error is the noise, which is proportional to the
// bound. The other is the pull of the weights of clipped records, as far as the law cannot predict it.
func (p *Plan) secondBound(r *table1.Regression, multiplier float64) float64 {
	x, y := p.regressionRows(r, p.model.Coordinates())
	m := momentsOf(x, y, stats.Shapes[0])
	sorted := slices.Sorted(slices.Values(m.norms))
	best, least := 0.0, math.Inf(1)
	for _, u := range boundShares {
		bound := stats.Quantile(sorted, u)
		w := m.weighted(bound)
		size := float64((m.columns + 1) * (m.columns + 2) / 2)
		e := size * multiplier * multiplier * bound * bound
		for _, b := range append(w.pull, w.lost) {
			b *= unknownCut * float64(p.Records)
			e += b * b
		}
		e /= w.kept * w.kept
		if e < least {
			best, least = bound, e
		}
	}
	digits := math.Pow(10, math.Floor(math.Log10(best))-1)
	return math.Ceil(best/digits) * digits
}

// unknownCut is the part of what a bound cuts off or pulls that the law cannot predict.
const unknownCut = 0.5

// boundShares are the shares of records below the bounds that secondBound compares.
var boundShares = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 1}

// drawnMoments are records drawn from the law, in the coordinates of SecondDesign.
type drawnMoments struct {
	columns int       // of x
	rows    []float64 // x and response
	norms   []float64 // of the moments, by record
}

// momentsOf are those of rows x and of responses that have the shape instead of the normal y.
func momentsOf(x, y []float64, shape stats.Shape) drawnMoments {
	mean, sd := stat.MeanStdDev(y, nil)
	k := len(x) / len(y)
	m := drawnMoments{columns: k, norms: make([]float64, len(y))}
	for i, v := range y {
		e, _ := shape.At((v - mean) / sd)
		row := append(slices.Clone(x[i*k:(i+1)*k]), mean+sd*e)
		m.rows = append(m.rows, row...)
		square := 0.0
		for a := range row {
			for _, b := range row[a:] {
				square += row[a] * row[a] * b * b
			}
		}
		m.norms[i] = math.Sqrt(square)
	}
	return m
}

// weights are what a bound does to the moments, by record.
type weights struct {
	cut  []float64 // what it cuts off each
	pull []float64 // (K×K) sufficient.Moments.Pull
	kept float64   // part of Σx² that is left
	lost float64   // part of Σy² that is not
}

// weighted are the weights of a bound.
func (m drawnMoments) weighted(bound float64) weights {
	k, n := m.columns, float64(len(m.norms))
	w := weights{cut: make([]float64, (k+1)*(k+2)/2), pull: make([]float64, k*k)}
	whole, left, ofY, lost := 0.0, 0.0, 0.0, 0.0
	for i, norm := range m.norms {
		row := m.rows[i*(k+1) : (i+1)*(k+1)]
		x, y := row[:k], row[k]
		length := floats.Dot(x, x)
		f := min(1, bound/norm)
		whole += length
		left += f * length
		ofY += y * y
		lost += (1 - f) * y * y
		if f == 1 {
			continue
		}
		at := 0
		for a := range row {
			for _, b := range row[a:] {
				w.cut[at] += (1 - f) * row[a] * b / n
				at++
			}
		}
		// −y dw/dy, where w = bound/norm and norm² = ... + y²|x|² + y⁴
		pull := f / (norm * norm) * (y*y*length + 2*y*y*y*y) / n
		for a, v := range x {
			for b, u := range x {
				w.pull[a*k+b] += pull * v * u
			}
		}
	}
	w.kept, w.lost = left/whole, lost/ofY
	return w
}

// LearnSecond gives the plan the second moments of SecondDesign, beside what their bound does under the
// law. From then on the plan's model has coordinates whose columns hardly correlate over the records.
func (p *Plan) LearnSecond(values []float64) error {
	r := table1.RegressionOf(p.model)
	c := p.model.Coordinates()
	rows, response := p.regressionRows(r, c)
	normals := shuffledNormals(len(rows)/(r.Columns()+1), p.Random(7))
	var list []*sufficient.Moments
	var errors []ShapeErrors
	for _, shape := range stats.Shapes {
		w := momentsOf(rows, response, shape).weighted(p.Purchase.Second().Bound)
		list = append(list, p.secondMoments(r.Columns()+1, values, w))
		errors = append(errors, ErrorsOf(shape, normals))
	}
	moments := list[0]
	if !moments.Weak() {
		match(rows, moments)
	}
	next, base, unit := recentred(p.model, c, r, moments)
	inverse := mat.NewDense(moments.P, moments.P, nil)
	if err := inverse.Inverse(base); err != nil {
		return err
	}
	m, err := p.model.In(next)
	if err != nil {
		return err
	}
	p.model, p.Second = m, values
	p.regression = &Regression{Moments: list, Base: base, Inverse: inverse, LogUnit: math.Log(unit), Sigma: r.Sigma, Rows: rows, Errors: errors}
	p.regression.Places = append(p.regression.Places, r.Intercept)
	for j := range r.Columns() {
		p.regression.Places = append(p.regression.Places, r.Coefficients.At(j, 0))
	}
	return nil
}

// secondMoments are the released values of k columns, whose bound gives records weights under the law.
func (p *Plan) secondMoments(k int, values []float64, w weights) *sufficient.Moments {
	second, l := p.Purchase.Second(), p.Law()
	m := &sufficient.Moments{P: k, Values: values, Noise: second.Noise * second.Bound, Records: l.Records, RecordsSD: l.RecordsSD}
	m.Cut, m.Pull, m.Lost, m.Unknown = slices.Clone(w.cut), slices.Clone(w.pull), w.lost, unknownCut
	floats.Scale(l.Records, m.Cut)
	floats.Scale(l.Records, m.Pull)
	return m
}

// ErrorsOf are errors of a shape, by normals w and −w.
func ErrorsOf(shape stats.Shape, normals []float64) (s ShapeErrors) {
	for _, w := range normals {
		for _, w := range [2]float64{w, -w} {
			e, score := shape.At(w)
			s.Error, s.Score = append(s.Error, e), append(s.Score, score)
		}
	}
	return s
}

// shuffledNormals are the middles of n parts of a normal, in random order. Means over them
// have less error than means over draws.
func shuffledNormals(n int, rng *noise.Random) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = special.NormalQuantile((float64(i) + 0.5) / float64(n))
	}
	stats.Shuffle(x, rng)
	return x
}

// match moves and turns rows so that their moments are m, as far as m is positive.
func match(rows []float64, m *sufficient.Moments) {
	k := m.P - 1
	n := len(rows) / m.P
	sums := mat.NewSymDense(m.P, nil)
	for i := range n {
		sums.SymRankOne(sums, 1/float64(n), mat.NewVecDense(m.P, rows[i*m.P:(i+1)*m.P]))
	}
	bought := mat.NewSymDense(m.P, nil)
	bought.ScaleSym(1/m.Records, m.Design())
	mean, to, from := make([]float64, k), mat.NewSymDense(k, nil), mat.NewSymDense(k, nil)
	for j := range k {
		mean[j] = bought.At(0, j+1)
	}
	for i := range k {
		for j := range i + 1 {
			to.SetSym(i, j, bought.At(i+1, j+1)-mean[i]*mean[j])
			from.SetSym(i, j, sums.At(i+1, j+1)-sums.At(0, i+1)*sums.At(0, j+1))
		}
	}
	var turn mat.Dense
	turn.Mul(power(to, m.Noise/m.Records, 0.5), power(from, 1e-9, -0.5))
	x, y := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for i := range n {
		row := rows[i*m.P+1 : (i+1)*m.P]
		for j, v := range row {
			x.SetVec(j, v-sums.At(0, j+1))
		}
		y.MulVec(&turn, x)
		for j := range row {
			row[j] = mean[j] + y.AtVec(j)
		}
	}
}

// power is a, with eigenvalues raised to at least least, to the power e.
func power(a *mat.SymDense, least, e float64) *mat.SymDense {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		panic("plan: no eigenvalues")
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	out := mat.NewSymDense(a.SymmetricDim(), nil)
	for j, value := range eigen.Values(nil) {
		out.SymRankOne(out, math.Pow(max(value, least), e), v.ColView(j))
	}
	return out
}

// mostLeverage is how many standard deviations a record of a level may be from the mean along a whitened
// column. At 22, those of a level of .2 %, clipping takes nearly all that it tells, and the noise of second
// moments hides the rest: beside such a reference level of 100,000 records, intervals were 3 times as wide
// (docs/results/cells.txt). Fits by small steps know less with a limit of 4, mostly of negative binomials.
const mostLeverage = 4

// meanAndSpread returns the mean (K) and the covariance (K×K) of the design's columns by the moments m. The
// covariance has no variance below its noise, and so much along the levels that none lies more than
// mostLeverage standard deviations out. deviations (K) lead from 0 to the records of each level; it changes them.
func meanAndSpread(m *sufficient.Moments, deviations []*mat.VecDense) (mean *mat.VecDense, spread *mat.SymDense) {
	k := m.P - 1
	mean, spread = mat.NewVecDense(k, nil), mat.NewSymDense(k, nil)
	for j := range k {
		x := m.At(0, j+1) / m.Records
		if math.Abs(x) < m.Noise/m.Records {
			x = 0
		}
		mean.SetVec(j, min(max(x, -3), 3))
	}
	for i := range k {
		for j := range i + 1 {
			spread.SetSym(i, j, m.At(i+1, j+1)/m.Records-mean.AtVec(i)*mean.AtVec(j))
		}
	}
	spread = power(spread, max(m.Noise/m.Records*math.Sqrt(float64(k)), 1e-4), 1)
	for _, u := range deviations {
		u.SubVec(u, mean)
	}
	whiten.LimitLeverage(spread, deviations, mostLeverage)
	return mean, spread
}

// recentred centres the columns of c and makes them uncorrelated by their moments m, as far as noise and
// levels allow (meanAndSpread). The response of the next coordinates is in units of its residual standard
// deviation: unit times that of c.
func recentred(model *models.Model, c *models.Coordinates, r *table1.Regression, m *sufficient.Moments) (next *models.Coordinates, base *mat.Dense, unit float64) {
	k, u := r.Columns(), c.Unit[r.Intercept]
	old := c.Predictors[0]
	matrix := mat.NewDense(k, k, slices.Clone(old.Matrix)) // u times that of x
	deviations := whiten.LevelDeviations(model, r.Coefficients, old.Center)
	for _, x := range deviations {
		x.MulVec(matrix.T(), x)
		x.ScaleVec(1/u, x)
	}
	mean, spread := meanAndSpread(m, deviations)
	root, half := power(spread, 0, -0.5), power(spread, 0, 0.5)
	unit = math.Sqrt(max(m.Residual()/m.Records, m.Noise/m.Records, 1e-4))
	rotation := models.Rotation{Coefficients: old.Coefficients, Center: slices.Clone(old.Center), Matrix: make([]float64, k*k)}
	next = &models.Coordinates{Origin: slices.Clone(c.Origin), Unit: slices.Clone(c.Unit), Predictors: []models.Rotation{rotation}}
	// x = Mᵀ(d − Center)/u: the new centre is at the mean of x
	var shift mat.VecDense
	if err := shift.SolveVec(matrix.T(), mean); err != nil {
		panic("plan: the whitened coordinates have no inverse")
	}
	b, origin := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for j := range k {
		origin.SetVec(j, c.Origin[r.Coefficients.At(j, 0)])
	}
	b.MulVec(matrix, origin)
	for j := range k {
		rotation.Center[j] += u * shift.AtVec(j)
		next.Origin[r.Intercept] += u * shift.AtVec(j) * b.AtVec(j)
	}
	turned := mat.NewDense(k, k, rotation.Matrix)
	turned.Mul(matrix, root)
	turned.Scale(unit, turned)
	start := mat.NewVecDense(k, nil)
	start.MulVec(half, origin)
	for j := range k {
		next.Origin[r.Coefficients.At(j, 0)] = start.AtVec(j) / unit
	}
	next.Unit[r.Intercept] = u * unit
	next.Origin[r.Sigma] = math.Log(u * unit)
	base = mat.NewDense(k+1, k+1, nil)
	base.Set(0, 0, unit)
	for j := range k {
		sum := 0.0
		for i := range k {
			sum -= mean.AtVec(i) * root.At(i, j)
			base.Set(i+1, j+1, unit*root.At(i, j))
		}
		base.Set(0, j+1, unit*sum)
	}
	return next, base, unit
}
