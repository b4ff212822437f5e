package table1

import (
	"math"

	"d3p/internal/models/law"
	"d3p/internal/privacy/noise"
	"d3p/internal/stats"
)

// correctClipping corrects a law for the clipping of its moments, and its columns by the
// moments. Records with large numbers count less in the moments, by their norm; simulated
// records of the law show by how much. The difference between the moments of the records and
// those of simulated ones is then due to the law (indirect inference: Gouriéroux, Monfort
// and Renault 1993, doi:10.1002/jae.3950080507). With scales, the difference in means and
// variances moves the columns.
func correctClipping(l *law.Law, products []product, sums []float64, noise, bound float64, spreads map[int]*spread, scales bool) {
	n := len(l.Columns)
	columns := make([]adjustment, len(products))
	for i := range columns {
		columns[i] = adjustment{factor: 1}
	}
	original := l.Copy()
	for range clippingRounds {
		simulated := simulatedMoments(l.AsBought(), products, bound)
		// the constant is 1 for all units, less what clipping takes: better known than its sum
		bought := centred(sums, len(products), l.Records*simulated.rows/simulatedRecords, noise)
		correction := make([]float64, n*n)
		for i, x := range products {
			for j, y := range products[:i] {
				if x.isNumber() && y.isNumber() {
					rho, _ := simulated.correlation(i, j)
					set(correction, n, x.column, y.column, l.Correlation[x.column*n+y.column]-rho/(x.reach*y.reach))
				}
			}
			if scales && x.isNumber() && x.field.Levels == nil && ranged(x.field) {
				from := &original.Columns[x.column]
				columns[i].learn(from, spreads[x.column], i, bought, simulated, l.RecordsSD/l.Records)
				l.Columns[x.column] = from.Adjusted(columns[i].shift, columns[i].factor, columns[i].shiftSD, columns[i].factorSD)
			}
		}
		setCorrelations(l, products, bought, correction)
	}
}

// clippingRounds are the rounds of correctClipping: the first scales decide how much is
// clipped in the second.
const clippingRounds = 2

// simulatedRecords are the records of simulatedMoments: they leave an error of .01 in a
// correlation.
const simulatedRecords = 8192

// simulatedMoments are the moments of records of a law, clipped like those of the curator,
// without noise.
func simulatedMoments(l *law.Law, products []product, bound float64) centredMoments {
	rng := noise.NewRandom(noise.Public(0).Stream(noise.Initialisation))
	values := make([][]float64, len(l.Columns))
	for i := range values {
		values[i] = make([]float64, simulatedRecords)
	}
	l.Draw(values, rng)
	k := len(products)
	sums, v, x := make([]float64, k*(k+1)/2), make([]float64, k*(k+1)/2), make([]float64, k)
	for b := range simulatedRecords {
		for j, p := range products {
			x[j] = p.of(values, b)
		}
		at, square := 0, 0.0
		for i := range x {
			for j := i; j < k; j++ {
				v[at] = x[i] * x[j]
				square += v[at] * v[at]
				at++
			}
		}
		part := min(1, bound/math.Sqrt(square))
		for at := range sums {
			sums[at] += part * v[at]
		}
	}
	return centred(sums, k, sums[0], 0)
}

// of is the number of record b, whose columns have these values.
func (p product) of(values [][]float64, b int) float64 {
	if p.column < 0 {
		return 1
	}
	x := values[p.column][b]
	if math.IsNaN(x) {
		x = p.field.Impute
	}
	switch {
	case p.level >= 0 && int(x) == p.level:
		return 1
	case p.level >= 0:
		return 0
	case p.field.Levels == nil:
		x = p.transformed(x)
	}
	return (x - p.reading.Center) / p.reading.By
}

// adjustment moves a column by shift standard deviations and makes it factor times as wide.
// The standard deviation of shift, and that of the log of factor, are what is not known of
// them.
type adjustment struct{ shift, factor, shiftSD, factorSD float64 }

// Of a histogram's error in the mean and in the log of the standard deviation. To first
// order its noise gives the latter histogramNoise times too small: noise in far cells moves
// variances by more than they are. Within a cell numbers may be spread in any way:
// coarseMean and coarseScale are that error, per mean width of a cell.
const (
	histogramNoise          = 2
	coarseMean, coarseScale = 0.15, 0.3
)

// learn takes the mean and the standard deviation of column i of the design, in those of its
// histogram from, by both: the histogram's own with its error, and the moments, in which the
// simulated ones have the same clipping. ofRows is the error of the number of rows, as a part
// of it.
func (a *adjustment) learn(from *law.Column, shape *spread, i int, bought, simulated centredMoments, ofRows float64) {
	_, sd := from.Moments()
	meanSD, sdSD := from.MomentsSD()
	expected := simulated.square(i) / simulated.rows
	if !(sd > 0 && expected > 0) {
		return
	}
	meanSD, sdSD = meanSD/sd, histogramNoise*sdSD/sd
	var tail spread
	if shape != nil {
		tail = *shape
		meanSD = math.Sqrt(max(tail.mean*tail.mean-tail.tailMean*tail.tailMean, 0))
		sdSD = math.Sqrt(max(tail.scale*tail.scale-tail.tailScale*tail.tailScale, 0))
	}
	coarse, noise := from.MeanWidth()/sd, bought.noise/bought.rows
	shift, shiftSD := combined(0, math.Hypot(meanSD, coarseMean*coarse), a.shift+bought.means[i]-simulated.means[i], noise)
	unit := a.factor * a.factor / expected
	square := unit * bought.square(i) / bought.rows
	factor, factorSD := scaleOf(math.Hypot(sdSD, coarseScale*coarse), square, math.Hypot(unit*noise, square*ofRows))
	*a = adjustment{shift, factor, math.Hypot(shiftSD, tail.tailMean), math.Hypot(factorSD, tail.tailScale)}
}

// scaleOf estimates a scale r with log r ~ N(0, spread²) from a measurement of r² with
// standard deviation noise: exp of the posterior mean of log r, and the posterior standard
// deviation of log r.
func scaleOf(spread, square, noise float64) (r, sd float64) {
	const points, reach = 161, 5.0
	var logs, weights [points]float64
	for i := range logs {
		z := reach * (2*float64(i)/(points-1) - 1)
		logs[i] = spread * z
		weights[i] = -z*z/2 - math.Pow((square-math.Exp(2*logs[i]))/noise, 2)/2
	}
	mean, variance := stats.GridMoments(logs[:], weights[:])
	return math.Exp(mean), math.Sqrt(max(variance, 0))
}

// combined is the mean of two independent measurements of a number, and its standard
// deviation.
func combined(x, sdX, y, sdY float64) (mean, sd float64) {
	a, b := 1/max(sdX*sdX, 1e-12), 1/max(sdY*sdY, 1e-12)
	return (a*x + b*y) / (a + b), 1 / math.Sqrt(a+b)
}
