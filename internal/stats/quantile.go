// Package stats has the statistics that several packages share: the one definition of a
// sample quantile, densities of draws, and combined estimates from several synthetic tables.
package stats

// Quantile is the p-quantile, 0 <= p <= 1, of an ascending sample that is not empty:
// R's default, type 7. Hyndman and Fan 1996, Am. Stat. 50:361.
func Quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Central returns the ends of the central interval of probability prob of such a sample.
func Central(sorted []float64, prob float64) (lower, upper float64) {
	return Quantile(sorted, (1-prob)/2), Quantile(sorted, (1+prob)/2)
}
