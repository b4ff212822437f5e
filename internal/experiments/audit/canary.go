package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/privacy"
	"d3p/internal/privacy/sensitivity"
)

// searchRounds is the length of the search for a canary: some thousand records.
const searchRounds = 60

// hunted is s with another canary: the record that the search for sensitive records finds
// at the start of the fit.
func hunted(s scenario) (scenario, error) {
	load := func(string) ([]byte, error) { return []byte(hospitals), nil }
	m, err := models.Read("model.yaml", []byte(s.model), load)
	if err != nil {
		return s, err
	}
	target := sensitivity.Target{
		Model:  sensitivity.Model{Name: s.name, Tape: m.Likelihood, Encoding: &m.Encoding},
		Engine: cpu.New(cpu.Options{Threads: 1}), Precision: privacy.Float32,
	}
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 1} // steep requires this
	found, err := sensitivity.Canary(target, make([]float64, m.P), clip, rand.New(rand.NewPCG(3, 3)), searchRounds)
	if err != nil {
		return s, err
	}
	s.name += ", record found by search"
	s.canaries = [][]string{rowsOf(m.Encoding, strings.Split(s.header, ","), found.Record)}
	return s, nil
}

// rowsOf are the lines, for a table with the given header, that are encoded as a record.
func rowsOf(e encoding.Encoding, header []string, record []float64) (lines []string) {
	block := e.K
	if e.RowsPerUnit > 1 {
		block++
	}
	for from := 0; from+e.K <= len(record); from += block {
		row := record[from:]
		if e.RowsPerUnit > 1 && row[e.K] != 1 {
			continue
		}
		cells := map[string]string{e.UnitID: "999"}
		for i := range e.Fields {
			f := &e.Fields[i]
			x := f.Decode(row)
			switch {
			case f.Kind == encoding.MissingIndicator || math.IsNaN(x):
			case len(f.Levels) > 0:
				cells[f.Column] = f.Levels[int(x)]
			case f.Type == data.Integer:
				cells[f.Column] = fmt.Sprintf("%.0f", x)
			default:
				cells[f.Column] = strconv.FormatFloat(x, 'g', -1, 64)
			}
		}
		var line []string
		for _, name := range header {
			line = append(line, cells[name])
		}
		lines = append(lines, strings.Join(line, ","))
	}
	return lines
}
