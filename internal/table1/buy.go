package table1

import (
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
	places, err := p.ranges(c, m, fields)
	if err != nil {
		return nil, err
	}
	r := p.release(Counts)
	partitions := []privacy.Partition{{Usable: true, Noise: r.Noise}}
	for i, f := range fields {
		axis := privacy.Axis{Column: f.Column}
		if f.Levels == nil {
			axis.Cuts = countCuts(f, columnOf(find(m, f.Column)), places[i], m.Spec.Twin != nil)
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
	spreads := map[int]*spread{} // by column of the law
	for i, f := range fields {
		d := find(m, f.Column)
		own := l.Column(d.Name.V)
		if f.Levels != nil {
			setLevels(own, counts[i+1], r.Noise)
		} else {
			spreads[indexOf(l, m, f.Column)] = setHistogram(own, columnOf(d), partitions[i+1].Axes[0].Cuts, counts[i+1], r.Noise, ranged(f))
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

// ranges returns the centre and scale of each field: bought for the fields of the release,
// else those of the column.
func (p *Plan) ranges(c *privacy.Curator, m *models.Model, fields []encoding.Field) ([]place, error) {
	places := make([]place, len(fields))
	var partitions []privacy.Partition
	var at []int
	for i, f := range fields {
		of := columnOf(find(m, f.Column))
		places[i] = place{of.center, of.scale}
		if looked(m, f) {
			cuts := equalCuts(of, rangeCells)
			partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{{Column: f.Column, Cuts: cuts}}})
			at = append(at, i)
		}
	}
	r := p.release(Ranges)
	if r == nil {
		return places, nil
	}
	for i := range partitions {
		partitions[i].Noise = r.Noise
	}
	counts, err := c.Counts(string(Ranges), partitions)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		places[i], _ = findPlace(columnOf(find(m, fields[i].Column)), partitions[k].Axes[0].Cuts, counts[k], r.Noise)
	}
	return places, nil
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
