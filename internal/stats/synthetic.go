package stats

import "math"

// Estimate is one table's estimate of a quantity.
type Estimate struct {
	Value float64
	Error float64 // standard error
}

// Combined is the estimate from all tables.
type Combined struct {
	Value float64
	Error float64 // standard error
	// DF are the degrees of freedom of the t distribution that (Value - truth)/Error
	// is compared with.
	DF float64
	// Noise is the part of Error's square that is due to the privacy noise, not to the
	// records' own sampling.
	Noise float64
	// Between is the variance of the values, Within the mean squared standard error.
	Between, Within float64
	// Floored: the variance was negative, and Within replaces it.
	Floored bool
}

// CombineSynthetic combines the estimates from m = len(estimates) >= 2 tables, each drawn
// given its own draw from the posterior. The value is their mean; its variance
//
//	T = (1 + 1/m) Between - Within
//
// is from Raghunathan, Reiter and Rubin 2003, J. Official Statistics 19, 1-16: the values
// vary by the posterior and by the sampling of records, which Within removes. (For
// missing values Within is added; here that would count it twice.) With few tables T can
// be negative: then it is ratio times Within, ratio being the rows of a table over the
// records behind the fit (Reiter 2002, J. Official Statistics 18, 531-543). DF is (m-1)(1
// - Within/((1+1/m) Between))², at least 1, and m-1 where T was negative.
func CombineSynthetic(estimates []Estimate, ratio float64) Combined {
	m := float64(len(estimates))
	var c Combined
	for _, e := range estimates {
		c.Value += e.Value / m
		c.Within += e.Error * e.Error / m
	}
	for _, e := range estimates {
		c.Between += (e.Value - c.Value) * (e.Value - c.Value) / (m - 1)
	}
	spread := (1 + 1/m) * c.Between
	variance := spread - c.Within
	c.DF = max(1, (m-1)*math.Pow(1-c.Within/spread, 2))
	if !(variance > 0) {
		variance, c.DF, c.Floored = ratio*c.Within, m-1, true
	}
	c.Error = math.Sqrt(variance)
	if variance > 0 {
		c.Noise = max(0, 1-ratio*c.Within/variance)
	}
	return c
}
