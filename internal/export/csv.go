package export

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
)

// writeCSV writes a header line and a line per record.
func writeCSV(w io.Writer, t simulate.Table, o Options) error {
	out := csv.NewWriter(w)
	var line []string
	for _, c := range t.Columns {
		line = append(line, c.HeaderName())
	}
	if o.Privacy != "" {
		line = append(line, "privacy")
	}
	if err := out.Write(line); err != nil {
		return err
	}
	for b := range rows(t) {
		line = line[:0]
		for j, c := range t.Columns {
			line = append(line, cell(c, t.Values[j][b]))
		}
		if o.Privacy != "" {
			line = append(line, o.Privacy)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// digits of a real number; draws need no more
const digits = 8

// cell is a value as text; empty for a missing value.
func cell(c *data.Column, v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case !c.Numeric():
		return c.Levels[int(v)].V
	case c.Type.V == data.Date:
		return c.Cell(v)
	case c.Type.V == data.Integer:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	text := strconv.FormatFloat(v, 'g', digits, 64)
	if x, err := strconv.ParseFloat(text, 64); err != nil || x < c.Lower.V || x > c.Upper.V {
		return strconv.FormatFloat(v, 'g', -1, 64) // the rounding crossed a bound
	}
	return text
}
