package table1

import (
	"cmp"
	"slices"
)

// noiseWidth is how many standard deviations of its noise a share may differ from 0 by chance.
// A column whose standard deviation is plainWidth times ShapeSD has a spread, though its limits allow for noise
// in cells far out and reach 0.
const noiseWidth, plainWidth = 2, 5

// Spreadless are the columns of rows with correlations whose spread is not above its noise: a
// number whose standard deviation may be 0, and a category that may have one level in all
// records. Their correlations are noise.
func Spreadless(rows []Row) (columns []string) {
	shares := make(map[string][]Row)
	for _, r := range rows {
		if r.Statistic == Share {
			shares[r.Column] = append(shares[r.Column], r)
		}
	}
	isConstant := func(r Row) bool {
		switch {
		case r.Statistic == SD && r.Low != nil:
			return *r.Low <= 0 && r.Value <= plainWidth*cmp.Or(r.ShapeSD, r.NoiseSD)
		case r.Statistic == SD:
			return r.Value <= noiseWidth*r.NoiseSD
		}
		return r.Statistic == Share && mayBeOne(shares[r.Column])
	}
	correlated := func(name string) bool {
		return slices.ContainsFunc(rows, func(r Row) bool { return r.Statistic == Correlation && (r.Column == name || r.Of == name) })
	}
	for _, r := range rows {
		if isConstant(r) && !slices.Contains(columns, r.Column) && correlated(r.Column) {
			columns = append(columns, r.Column)
		}
	}
	return columns
}

// mayBeOne reports whether noise hides all shares but the largest.
func mayBeOne(shares []Row) bool {
	largest := slices.MaxFunc(shares, func(a, b Row) int { return cmp.Compare(a.Value, b.Value) })
	return !slices.ContainsFunc(shares, func(r Row) bool { return r.Of != largest.Of && r.Value > noiseWidth*r.NoiseSD })
}
