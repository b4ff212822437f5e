package table1

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
)

// pairs buys the tables of every two coded columns, and gives the law their shares among
// the rows with a declared level of both.
func (p *Plan) pairs(c *privacy.Curator, m *models.Model, l *law.Law) error {
	r := p.release(Pairs)
	if r == nil {
		return nil
	}
	var partitions []privacy.Partition
	var of [][2]int
	for i, first := range r.Coded {
		for _, second := range r.Coded[:i] {
			partitions = append(partitions, privacy.Partition{Axes: []privacy.Axis{{Column: first}, {Column: second}}, Noise: r.Noise})
			of = append(of, [2]int{indexOf(l, m, first), indexOf(l, m, second)})
		}
	}
	counts, err := c.Counts(string(Pairs), partitions)
	if err != nil {
		return err
	}
	for k, pair := range of {
		rows, columns := len(l.Columns[pair[0]].Shares), len(l.Columns[pair[1]].Shares)
		var declared []float64
		for i := range rows {
			declared = append(declared, counts[k][i*(columns+2):i*(columns+2)+columns]...)
		}
		all := total(declared)
		for i := range declared {
			declared[i] /= all
		}
		l.Pairs = append(l.Pairs, law.Pair{Of: pair, Shares: declared, SD: r.Noise / all})
	}
	return nil
}

// indexOf is the place in the law of the column with this header.
func indexOf(l *law.Law, m *models.Model, header string) int {
	name := find(m, header).Name.V
	return slices.IndexFunc(l.Columns, func(c law.Column) bool { return c.Name == name })
}
