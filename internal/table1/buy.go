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
			axis.Cuts = looks[i].withPeaks(of, countCuts(f, of, looks[i].place, m.Spec.Twin != nil))
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
	rows := rowsOf(counts[1:])
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

// looked is where a column's numbers lie, and the look that shows it; nil if none was bought.
type looked struct {
	place
	look *histogram
}

// withPeaks are cuts, and those about cells of the look that hold records farther than narrow from its
// place, with their neighbours, into which such a peak reaches.
func (l looked) withPeaks(of column, cuts []float64) []float64 {
	if l.look == nil || len(cuts) == 0 {
		return cuts
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
		at, _ := findPlace(columnOf(find(m, fields[i].Column)), look.cuts, look.counts, r.Noise, sure)
		looks[i] = looked{at, look}
	}
	return looks, nil
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

// rowsOf is the number of rows by partitions of them with equal noise. The sum of one has the
// noise of all of its cells, so one of few cells counts most.
func rowsOf(partitions [][]float64) float64 {
	sum, weight := 0.0, 0.0
	for _, counts := range partitions {
		w := 1 / float64(len(counts))
		sum, weight = sum+w*total(counts), weight+w
	}
	return max(sum/weight, 1)
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
