package table1

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models/encoding"
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
func correctClipping(l *law.Law, products []product, sums []float64, noise, bound float64, errors []histogramError, scales bool) {
	n := len(l.Columns)
	columns := make([]adjustment, len(products))
	for i := range columns {
		columns[i] = adjustment{factor: 1}
	}
	original, known := l.Copy(), meansOf(errors)
	for range clippingRounds {
		simulated := simulatedMoments(l.AsBought(), products, bound)
		// the constant is 1 for all units, less what clipping takes: better known than its sum
		bought := centred(sums, known, l.Records*simulated.rows/simulatedRecords, noise)
		bought.squares = make([]estimatedSquare, len(products))
		correction := make([]float64, n*n)
		for i, x := range products {
			for j, y := range products[:i] {
				if x.isNumber() && y.isNumber() {
					rho, _ := simulated.correlation(i, j)
					set(correction, n, x.column, y.column, l.Correlation[x.column*n+y.column]-rho/(x.reach*y.reach))
				}
			}
			if !x.isNumber() {
				continue
			}
			bought.squares[i] = columns[i].learn(errors[i], i, bought, simulated, l.RecordsSD/l.Records)
			if from := &original.Columns[x.column]; scales && x.field.Levels == nil && ranged(x.field) {
				l.Columns[x.column] = from.Adjusted(columns[i].shift, columns[i].factor, columns[i].shiftSD, columns[i].factorSD)
			} else {
				columns[i] = adjustment{factor: 1}
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
	values := simulatedValues(l)
	k := len(products)
	sums, v, x := make([]float64, k*(k+1)/2), make([]float64, k*(k+1)/2), make([]float64, k)
	for b := range simulatedRecords {
		for j, p := range products {
			x[j] = p.of(values, b)
		}
		outer(v, x)
		floats.AddScaled(sums, min(1, bound/floats.Norm(v, 2)), v)
	}
	return centred(sums, make([]float64, k), sums[0], 0)
}

// simulatedValues are simulatedRecords records of a law, by column.
func simulatedValues(l *law.Law) [][]float64 {
	values := make([][]float64, len(l.Columns))
	for i := range values {
		values[i] = make([]float64, simulatedRecords)
	}
	l.Draw(values, noise.NewRandom(noise.Public(0).Stream(noise.Initialisation)))
	return values
}

// outer sets v to the upper triangle of xxᵀ, row by row.
func outer(v, x []float64) {
	at := 0
	for i := range x {
		for _, y := range x[i:] {
			v[at] = x[i] * y
			at++
		}
	}
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

// histogramError is the error of a histogram's mean, in its standard deviations, and of the log of
// its standard deviation; tail is the part of both that moments, which clip, do not show.
type histogramError struct {
	mean, scale float64
	tail        spread
}

// errorOf is that of a bought column, whose shape is nil for levels.
func errorOf(c *law.Column, f encoding.Field, shape *spread) histogramError {
	if f.Levels != nil {
		return errorOfLevels(c)
	}
	_, sd := c.Moments()
	if !(sd > 0) {
		return histogramError{mean: coarseMean, scale: coarseScale}
	}
	meanSD, sdSD := c.MomentsSD()
	e := histogramError{mean: meanSD / sd, scale: histogramNoise * sdSD / sd}
	if shape != nil {
		e.tail = *shape
		e.mean = math.Sqrt(max(shape.mean*shape.mean-shape.tailMean*shape.tailMean, 0))
		e.scale = math.Sqrt(max(shape.scale*shape.scale-shape.tailScale*shape.tailScale, 0))
	}
	coarse := c.MeanWidth() / sd
	e.mean, e.scale = math.Hypot(e.mean, coarseMean*coarse), math.Hypot(e.scale, coarseScale*coarse)
	return e
}

// errorOfLevels is that of the indices of levels.
func errorOfLevels(c *law.Column) histogramError {
	mean, square := 0.0, 0.0
	for k, share := range c.Shares {
		mean += share * float64(k)
		square += share * float64(k*k)
	}
	square -= mean * mean
	ofMean, ofSquare := 0.0, 0.0
	for k, noise := range c.ShareSD {
		d := float64(k) - mean
		ofMean += noise * noise * d * d
		ofSquare += noise * noise * math.Pow(d*d-square, 2)
	}
	if !(square > 0) {
		return histogramError{mean: 1, scale: 1}
	}
	return histogramError{mean: math.Sqrt(ofMean / square), scale: math.Sqrt(ofSquare) / (2 * square)}
}

// histogramErrors are those of the products, by the columns as they were bought. The mean of
// the constant has an infinite one, since its moment is a number of records, and so has that
// of a level, whose mean is its share.
func histogramErrors(l *law.Law, products []product, spreads map[int]*spread) []histogramError {
	list := make([]histogramError, len(products))
	for i, x := range products {
		list[i].mean = math.Inf(1)
		if x.isNumber() {
			list[i] = errorOf(&l.Columns[x.column], x.field, spreads[x.column])
		}
	}
	return list
}

func meansOf(errors []histogramError) []float64 {
	means := make([]float64, len(errors))
	for i, e := range errors {
		means[i] = e.mean
	}
	return means
}

// learn takes the mean and the standard deviation of column i of the design, in those of its
// histogram, by both: the histogram's own with its errors, and the moments, in which the
// simulated ones have the same clipping. ofRows is the error of the number of rows, as a part
// of it. It returns the square of the column by both.
func (a *adjustment) learn(own histogramError, i int, bought, simulated centredMoments, ofRows float64) estimatedSquare {
	expected := simulated.square(i) / simulated.rows
	if !(expected > 0) {
		return estimatedSquare{}
	}
	noise := bought.noise / bought.rows
	shift, shiftSD := combined(0, own.mean, a.shift+bought.means[i]-simulated.means[i], noise)
	unit := a.factor * a.factor / expected
	square := unit * bought.square(i) / bought.rows
	factor, factorSD := scaleOf(own.scale, square, math.Hypot(unit*noise, square*ofRows))
	known := estimatedSquare{factor * factor / unit * bought.rows, factorSD}
	*a = adjustment{shift, factor, math.Hypot(shiftSD, own.tail.tailMean), math.Hypot(factorSD, own.tail.tailScale)}
	return known
}

// estimatedSquares are the squares of the products by histograms and moments, without the
// correction for clipping.
func estimatedSquares(products []product, errors []histogramError, bought centredMoments) []estimatedSquare {
	list := make([]estimatedSquare, len(products))
	for i, x := range products {
		if x.isNumber() {
			r, sd := scaleOf(errors[i].scale, bought.square(i)/bought.rows, bought.noise/bought.rows)
			list[i] = estimatedSquare{r * r * bought.rows, sd}
		}
	}
	return list
}

// scaleOf estimates a scale r with log r ~ N(0, spread²) from a measurement of r² with
// standard deviation noise: the root of the posterior mean of r², because noise as large as
// r² leaves log r a long lower tail, and the posterior standard deviation of log r.
func scaleOf(spread, square, noise float64) (r, sd float64) {
	const points, reach = 1001, 5.0
	var logs, squares, weights [points]float64
	for i := range logs {
		z := reach * (2*float64(i)/(points-1) - 1)
		logs[i] = min(spread, mostSpread) * z
		squares[i] = math.Exp(2 * logs[i])
		weights[i] = -z*z/2 - math.Pow((square-squares[i])/noise, 2)/2
	}
	mean, _ := stats.GridMoments(squares[:], weights[:])
	_, variance := stats.GridMoments(logs[:], weights[:])
	return math.Sqrt(mean), math.Sqrt(max(variance, 0))
}

// mostSpread is the largest error of the log of a histogram's standard deviation that
// scaleOf takes.
const mostSpread = 3

// combined is the mean of two independent measurements of a number, and its standard
// deviation.
func combined(x, sdX, y, sdY float64) (mean, sd float64) {
	a, b := 1/max(sdX*sdX, 1e-12), 1/max(sdY*sdY, 1e-12)
	return (a*x + b*y) / (a + b), 1 / math.Sqrt(a+b)
}
