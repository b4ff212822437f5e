// Package quantile has the one definition of a sample quantile that every file
// and table uses.
package quantile

// Of is the p-quantile, 0 <= p <= 1, of an ascending sample that is not empty:
// R's default, type 7. Hyndman and Fan 1996, Am. Stat. 50:361.
func Of(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Central are the ends of the central interval of probability prob of such a sample.
func Central(sorted []float64, prob float64) (lower, upper float64) {
	return Of(sorted, (1-prob)/2), Of(sorted, (1+prob)/2)
}
