package models

import (
	"d3p/internal/models/dist"
	"d3p/internal/models/law"
)

// SimulateRecords draws n records at the unconstrained parameters theta, as the
// likelihood reads them: [n x Encoding.K], row-major. Their columns are spread as l
// says. It reads no data. A unit has one row.
func (m *Model) SimulateRecords(theta []float64, n int, l *law.Law, rng dist.Rand) []float64 {
	return m.encodeTable(m.SimulateAt(theta, n, l, rng), n)
}

// encodeTable encodes the first n records of t as the likelihood reads them.
func (m *Model) encodeTable(t Table, n int) []float64 {
	at := make(map[string]int)
	for i, c := range t.Columns {
		at[c.HeaderName()] = i
	}
	k := m.Encoding.K
	rows := make([]float64, n*k)
	for b := range n {
		m.Encoding.Encode(rows[b*k:(b+1)*k], func(header string) float64 { return t.Values[at[header]][b] })
	}
	return rows
}
