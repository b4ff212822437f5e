package outputs

import (
	"encoding/csv"
	"io"
	"strconv"

	"d3p/internal/release"
	"d3p/internal/score"
)

// SideQueriesName is the file of the quantities bought of iterates.
const SideQueriesName = "trace.csv"

// SideQueriesFiles is trace.csv, if the fit bought side queries.
func SideQueriesFiles(q *score.SideQueries, banner string) []release.File {
	if q == nil || q.Counts == nil {
		return nil
	}
	return []release.File{{Name: SideQueriesName, Covered: true, Write: func(w io.Writer) error {
		out := csv.NewWriter(w)
		header := []string{"iteration", "quantity", "level", "value", "noise_sd"}
		if banner != "" {
			header = append(header, "privacy")
		}
		out.Write(header)
		for _, m := range q.Measured() {
			step := ""
			if m.Step > 0 {
				step = strconv.Itoa(m.Step)
			}
			line := []string{step, m.Quantity, m.Level, strconv.FormatFloat(m.Value, 'g', 6, 64), strconv.FormatFloat(m.NoiseSD, 'g', 6, 64)}
			if banner != "" {
				line = append(line, banner)
			}
			out.Write(line)
		}
		out.Flush()
		return out.Error()
	}}}
}
