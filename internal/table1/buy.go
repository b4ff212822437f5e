package table1

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
	"d3p/internal/stats"
)

// Buy buys the plan's releases from the curator, and makes a law of them. Only the
// curator's answers depend on records; everything else follows from them.
func (p *Plan) Buy(c *privacy.Curator, m *models.Model) (*law.Law, error) {
	fields := m.Encoding.Columns()
	l := law.Declared(&m.Spec.Data)
	looks, err := p.ranges(c, m, fields)
	if err != nil {
		return nil, err
	}
	r := p.release(Counts)
	partitions := []privacy.Partition{{Usable: true, Noise: r.Noise}}
	for i, f := range fields {
		axis := privacy.Axis{Column: f.Column}
		if f.Levels == nil {
			of := columnOf(find(m, f.Column))
			axis.Cuts = looks[i].cuts(f, of, m.Spec.Twin != nil)
			if axis.Cuts == nil {
				axis.Cuts = []float64{}
			}
		}
		partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{axis}, Noise: r.Noise})
	}
	counts, err := c.Counts(string(Counts), partitions)
	if err != nil {
		return nil, err
	}
	l.Records, l.RecordsSD = max(counts[0][0], 1), r.Noise
	rows := rowsOf(m, counts[1:], r.Noise, l.Records, l.RecordsSD)
	spreads := map[int]*spread{} // by column of the law
	for i, f := range fields {
		d := find(m, f.Column)
		own := l.Column(d.Name.V)
		if f.Levels != nil {
			setLevels(own, counts[i+1], r.Noise)
		} else {
			h := histogram{partitions[i+1].Axes[0].Cuts, counts[i+1], r.Noise, rows, looks[i].look}
			spreads[indexOf(l, m, f.Column)] = setHistogram(own, columnOf(d), h)
		}
	}
	if err := p.pairs(c, m, l); err != nil {
		return nil, err
	}
	if err := p.groups(c, m, l, partitions[1:]); err != nil {
		return nil, err
	}
	return l, p.correlations(c, m, fields, l, spreads)
}

// looked is where a column's numbers lie, and the look that shows it; nil if none was bought. If that may
// be chance, they are likely at another place.
type looked struct {
	place
	look   *histogram
	likely *place
}

// cuts are those of the histogram to buy of a column: countCuts about its place, near the likely one those
// about that, and those about cells of the look that hold records farther than narrow from its place, with their
// neighbours, into which such a peak reaches.
func (l looked) cuts(f encoding.Field, of column, spike bool) []float64 {
	cuts := countCuts(f, of, l.place, spike)
	if l.look == nil || len(cuts) == 0 {
		return cuts
	}
	if l.likely != nil {
		isNear := func(x float64) bool { return math.Abs(of.transformed(x)-l.likely.center) <= near*l.likely.scale }
		others := slices.DeleteFunc(countCuts(f, of, *l.likely, spike), func(x float64) bool { return !isNear(x) })
		cuts = append(slices.DeleteFunc(cuts, isNear), others...)
	}
	for i, count := range l.look.cells() {
		if count < isolated*l.look.noise {
			continue
		}
		for _, k := range []int{i - 2, i + 1} {
			if k >= 0 && k < len(l.look.cuts) && math.Abs(of.transformed(l.look.cuts[k])-l.center) > narrow*l.scale {
				cuts = append(cuts, l.look.cuts[k])
			}
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// ranges returns the place of each field: bought for the fields of the release, else the
// centre and scale of the column.
func (p *Plan) ranges(c *privacy.Curator, m *models.Model, fields []encoding.Field) ([]looked, error) {
	looks := make([]looked, len(fields))
	var partitions []privacy.Partition
	var at []int
	for i, f := range fields {
		of := columnOf(find(m, f.Column))
		looks[i].place = place{of.center, of.scale}
		if isLooked(m, f) {
			cuts := equalCuts(of, rangeCells)
			partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{{Column: f.Column, Cuts: cuts}}})
			at = append(at, i)
		}
	}
	r := p.release(Ranges)
	if r == nil {
		return looks, nil
	}
	for i := range partitions {
		partitions[i].Noise = r.Noise
	}
	counts, err := c.Counts(string(Ranges), partitions)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		look := &histogram{cuts: partitions[k].Axes[0].Cuts, counts: counts[k], noise: r.Noise}
		looks[i] = lookedAt(columnOf(find(m, fields[i].Column)), look)
	}
	return looks, nil
}

// lookedAt is where a look shows the numbers of a column.
func lookedAt(of column, look *histogram) looked {
	at, signal := findPlace(of, look.cuts, look.counts, look.noise, likely)
	if signal < sure {
		return looked{place{of.center, of.scale}, look, &at}
	}
	return looked{place: at, look: look}
}

// setLevels makes shares of the counts of levels, undeclared ones and missing values.
func setLevels(c *law.Column, counts []float64, noise float64) {
	levels := len(counts) - 2
	undeclared, missing := counts[levels], counts[levels+1]
	all := total(counts)
	declared := total(counts[:levels])
	shares := make([]float64, levels)
	for i := range shares {
		shares[i] = counts[i] / declared
		c.ShareSD = append(c.ShareSD, noise/declared)
	}
	c.Shares = stats.Simplex(shares, 1)
	c.Missing, c.MissingSD = part(missing, all), noise/all
	c.Undeclared, c.UndeclaredSD = part(undeclared, all), noise/all
}

// unsureRows is the error of a declared number of rows, as a part of it. Of 400 columns many times narrower
// than declared 32 came out wrong by a factor of 3 without a declared number (counts with a noise of 9 % of it),
// and one with a number that is known up to a fifth.
const unsureRows = 0.2

// rowsOf is the number of rows of m by partitions of them with equal noise, and by the number of units, which
// have 1 to r rows each: the declared one, or else one with an error. The sum of a partition has the noise of
// all of its cells, so one of few cells counts most.
func rowsOf(m *models.Model, partitions [][]float64, noise, units, unsure float64) float64 {
	sum, weight := 0.0, 0.0
	for _, counts := range partitions {
		w := 1 / float64(len(counts))
		sum, weight = sum+w*total(counts), weight+w
	}
	if public := m.Spec.Data.Rows.Public; public.IsSet() {
		units, unsure = float64(public.V), 0
	}
	more := float64(max(m.Encoding.RowsPerUnit, 1) - 1)
	rows, _ := combined(sum/weight, noise/math.Sqrt(weight), units*(1+more/2), math.Hypot(unsure, units*math.Hypot(unsureRows, more/math.Sqrt(12))))
	return max(rows, 1)
}

// total is the sum of counts, at least 1.
func total(counts []float64) float64 {
	sum := 0.0
	for _, x := range counts {
		sum += x
	}
	return max(sum, 1)
}

// part is a share between 0 and 1.
func part(x, all float64) float64 { return min(max(x/all, 0), 1) }
