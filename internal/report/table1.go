package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"d3p/internal/release"
	"d3p/internal/table1"
)

// The files of Table 1.
const (
	table1CSV = "table1.csv"
	table1MD  = "table1.md"
)

// Table1Files are table1.csv, with every number that was bought, and table1.md, the
// table for readers.
func Table1Files(p *Privacy) []release.File {
	if len(p.Table1) == 0 {
		return nil
	}
	return []release.File{
		{Name: table1CSV, Covered: true, Write: func(w io.Writer) error { return writeTable1(w, p) }},
		{Name: table1MD, Covered: true, Write: func(w io.Writer) error {
			t, err := template.New(table1MD).Funcs(functions()).ParseFS(templates, "templates/"+table1MD)
			if err != nil {
				return err
			}
			escapeMarkdown(t)
			return t.Execute(w, newDocument(p, Findings{}))
		}},
	}
}

func writeTable1(w io.Writer, p *Privacy) error {
	out := csv.NewWriter(w)
	header := []string{"column", "statistic", "of", "value", "noise_sd", "low", "high", "shape_sd", "open"}
	if p.Banner != "" {
		header = append(header, "privacy")
	}
	out.Write(header)
	spreadless := table1.Spreadless(p.Table1)
	for _, r := range p.Table1 {
		line := []string{r.Column, string(r.Statistic), r.Of, digits(r.Value), digits(r.NoiseSD), "", "", "", ""}
		if isNoise(r, spreadless) {
			line[3], line[4] = "", ""
		}
		if r.Low != nil && r.High != nil {
			copy(line[5:], []string{digits(*r.Low), digits(*r.High)})
		}
		if r.Low != nil || r.ShapeSD > 0 {
			line[7] = digits(r.ShapeSD)
		}
		if r.Open {
			line[8] = "open"
		}
		if p.Banner != "" {
			line = append(line, p.Banner)
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// isNoise reports whether r is a correlation with a column whose spread noise hides.
func isNoise(r table1.Row, spreadless []string) bool {
	return r.Statistic == table1.Correlation && (slices.Contains(spreadless, r.Column) || slices.Contains(spreadless, r.Of))
}

// Spreadless names the columns whose correlations are not among the lines for readers.
func (d *document) Spreadless() string { return strings.Join(table1.Spreadless(d.Table1), ", ") }

// origins are the days from which the columns of dates count; none of a date with a transform.
func (d *document) origins() map[string]time.Time {
	found := map[string]time.Time{}
	for _, p := range d.Preprocessing {
		switch text, _ := p.Parameters["date"].(string); p.Operation {
		case "days since":
			if day, err := time.Parse(time.DateOnly, text); err == nil {
				found[p.Column] = day
			}
		case "transform":
			delete(found, p.Column)
		}
	}
	return found
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// table1Line is a line of the table for readers.
type table1Line struct{ Column, What, Value, Noise string }

// Table1Lines are the lines for readers: no cells of histograms or mean
// scores, no correlations that are noise, shares in per cent, limits in place of noise.
func (d *document) Table1Lines() (lines []table1Line) {
	spreadless, origins := table1.Spreadless(d.Table1), d.origins()
	for _, r := range d.Table1 {
		what := string(r.Statistic)
		value, noise := fmt.Sprintf("%.4g", r.Value), fmt.Sprintf("%.2g", r.NoiseSD)
		number := func(x float64) string { return fmt.Sprintf("%.4g", x) }
		switch origin, dated := origins[r.Column]; r.Statistic {
		case table1.Cell, table1.Part, table1.MeanScore, table1.GroupScore:
			continue
		case table1.Mean, table1.Quartile1, table1.Median, table1.Quartile3:
			if dated {
				number = func(x float64) string { return origin.AddDate(0, 0, int(math.Round(x))).Format(time.DateOnly) }
				value = number(r.Value)
			}
		case table1.SD:
			if dated {
				what = "sd in days"
			}
		case table1.Units:
			what = "units with a usable row"
			value, noise = fmt.Sprintf("%.0f", r.Value), fmt.Sprintf("%.0f", r.NoiseSD)
		case table1.Share, table1.Missing, table1.Undeclared, table1.JointShare:
			value, noise = fmt.Sprintf("%.1f %%", 100*r.Value), fmt.Sprintf("%.2g %%", 100*r.NoiseSD)
			if r.Statistic == table1.JointShare {
				what = "with " + r.Of
			} else if r.Of != "" {
				what = r.Of
			}
		case table1.Correlation:
			if isNoise(r, spreadless) {
				continue
			}
			what = "correlation with " + r.Of
			value = fmt.Sprintf("%.2f", r.Value)
		case table1.OwnShare:
			what = "part of its variance that the other numbers do not explain"
			value, noise = fmt.Sprintf("%.3g %%", 100*r.Value), fmt.Sprintf("%.2g %%", 100*r.NoiseSD)
		case table1.SDWithin:
			what = "sd of its normal score within " + r.Of
			value = fmt.Sprintf("%.2f", r.Value)
		}
		if r.Low != nil && r.High != nil {
			noise = number(*r.Low) + " to " + number(*r.High)
		}
		if r.Open {
			noise += ", open"
		}
		lines = append(lines, table1Line{r.Column, what, value, noise})
	}
	return lines
}
