package synthesis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"d3p/internal/models"
	"d3p/internal/models/data"
)

const (
	worstListed = 10
	picturesOf  = 300 // pairs
	mostShown   = 60  // cells of a column in a picture
	barLength   = 40
	normal90    = 1.645
)

// Utility describes in Markdown what a synthetic table from the released counts keeps: how far it is
// expected to be from the records, which rules hold, and how columns and pairs lie. Everything
// follows from released numbers and declarations.
func (t *Table) Utility(m *models.Model) string {
	var b strings.Builder
	b.WriteString("# What the synthetic table keeps\n\n")
	if t.Privacy != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Privacy)
	}
	fmt.Fprintf(&b, "The release estimates %.0f records. Every number below follows from the released noisy counts and costs no\n", t.Records)
	b.WriteString("privacy. A distance is a total variation: the share of records that would have to move. It is a prediction of\n")
	b.WriteString("what noise, bins and columns that follow from others do. Drawing records adds what a new sample would.\n")
	t.distances(&b)
	rules(&b, m)
	if list := t.Contradicted(); list != nil {
		fmt.Fprintf(&b, "\n**The rules contradict the counts of %s**: a table that meets them is far from these counts. See that\neach rule holds in the records, and that dates which it compares count from one origin.\n", plain(strings.Join(list, ", ")))
	}
	b.WriteString("\n## Columns\n\nShares of records, with 90 % intervals for the noise of the column's own counts.\n")
	for _, x := range t.Tables {
		if len(x.Columns) == 1 {
			t.bars(&b, m, x)
		}
	}
	t.maps(&b, m)
	b.WriteString(unfit)
	return b.String()
}

const unfit = `
## What it is not good for

- Standard errors. Draw --separate tables, estimate from each and combine the results with d3p combine.
- Tails where counts are noisy: of intervals of 90 % from separate tables 91 % held, but 84 % of those of quantiles at
  10 and 90 %. d3p twin --separate says so, and where relations are shrunk because so many tables were asked for:
  few intervals of coefficients hold then. Name the pairs of the analysis as the workload.
- Single records. No row is a person, and a rare combination is noise as often as it is a fact.
- Three and more columns together, where the workload does not name them: they follow from the pairs.
- Exact values within a bin: they are drawn there independently of the other columns.
- Pairs with a large distance above, and relations that were not looked for.
- Decisions. Confirm on the records, or fit the question itself with d3p fit.
`

// contradiction is the distance of a single column from which the rules contradict its counts, and
// in units of the counts' noise.
const (
	contradiction      = 0.05
	contradictionNoise = 3
)

// Contradicted are the columns whose counts the constraints keep the table from.
func (t *Table) Contradicted() (names []string) {
	for _, d := range t.Distances {
		if len(d.Columns) != 1 || d.Predicted < contradiction {
			continue
		}
		for _, x := range t.Tables {
			if len(x.Columns) == 1 && t.Columns[x.Columns[0]].Name == d.Columns[0] && d.Predicted > contradictionNoise*t.noise(x) {
				names = append(names, d.Columns[0])
			}
		}
	}
	return names
}

// mostMissing is the share of missing values from which a file hardly has a column's values.
const mostMissing = 0.9

// Unread lists the columns whose values are nearly all missing by the noisy counts: the file may
// write them in another way than is declared.
func (t *Table) Unread() (names []string) {
	for _, x := range t.Tables {
		if len(x.Columns) != 1 {
			continue
		}
		c := &t.Columns[x.Columns[0]]
		if y := x.Counts[len(x.Counts)-1]; c.Missing && y > mostMissing*t.Records && y > contradictionNoise*math.Sqrt(x.Variance) {
			names = append(names, c.Name)
		}
	}
	return names
}

// mostUsable is the share of usable records up to which Unusable reports the others.
const mostUsable = 0.9

// Unusable reports, by the noisy counts, that many of the records are not usable: they have an
// undeclared level, or lack a value that they need.
func (t *Table) Unusable(records int) bool {
	noise := math.Inf(1)
	for _, x := range t.Tables {
		noise = min(noise, math.Sqrt(x.Variance*float64(len(x.Counts))))
	}
	return t.Records < mostUsable*float64(records) && float64(records)-t.Records > contradictionNoise*noise
}

// noise is the mean total variation that the noise of counts is.
func (t *Table) noise(x Counts) float64 {
	return 0.8 * math.Sqrt(x.Variance) * float64(len(x.Counts)) / (2 * max(1, t.Records))
}

// rules writes the constraints.
func rules(b *strings.Builder, m *models.Model) {
	b.WriteString("\n## Rules\n\n")
	list := m.Spec.Twin.Constraints
	if len(list) == 0 {
		b.WriteString("The model file declares none (`constraints:`), so impossible combinations can occur.\n")
		return
	}
	b.WriteString("Every synthetic record meets these; records that do not are drawn again.\n\n")
	for _, c := range list {
		// Nothing acts within the ticks but a tick.
		fmt.Fprintf(b, "- `%s`\n", printable(c.Text.V, "`"))
	}
}

// distances writes the predicted distances by number of columns, and the worst tables.
func (t *Table) distances(b *strings.Builder) {
	b.WriteString("\n## How close it is\n\n| tables of | how many | counted | mean distance | largest |\n|---|---|---|---|---|\n")
	for ways := 1; ways <= 3; ways++ {
		number, counted, sum, most, worst := 0, 0, 0.0, 0.0, ""
		for _, d := range t.Distances {
			if len(d.Columns) != ways {
				continue
			}
			number++
			sum += d.Predicted
			if d.Measured {
				counted++
			}
			if d.Predicted >= most {
				most, worst = d.Predicted, plain(strings.Join(d.Columns, ", "))
			}
		}
		name := []string{"one column", "two columns", "three columns"}[ways-1]
		if number == 0 {
			fmt.Fprintf(b, "| %s | 0 | 0 | not in the workload, so nothing tells | |\n", name)
			continue
		}
		fmt.Fprintf(b, "| %s | %d | %d | %.3f | %.3f: %s |\n", name, number, counted, sum/float64(number), most, worst)
	}
	b.WriteString("\nA table that is not counted follows from the others; its distance follows from\nthe first look at all tables. A fit whose `workload:` lists the tables of the analysis\nalone counts more of them.\n\n| worst tables | distance | |\n|---|---|---|\n")
	listed := 0
	for _, d := range t.Distances { // the worst first
		if len(d.Columns) < 2 || listed == worstListed {
			continue
		}
		listed++
		how := "follows from others"
		if d.Measured {
			how = "counted"
		}
		fmt.Fprintf(b, "| %s | %.3f | %s |\n", plain(strings.Join(d.Columns, ", ")), d.Predicted, how)
	}
}

// bars writes a column's shares.
func (t *Table) bars(b *strings.Builder, m *models.Model, x Counts) {
	c := &t.Columns[x.Columns[0]]
	labels := t.labels(m, x.Columns[0])
	sum := 1e-9
	for _, y := range x.Counts {
		sum += max(y, 0)
	}
	fmt.Fprintf(b, "\n```\n%s\n", plain(c.Name))
	for i, y := range x.Counts {
		if i == mostShown {
			fmt.Fprintf(b, "  and %d more\n", len(x.Counts)-i)
			break
		}
		share := max(y, 0) / sum
		fmt.Fprintf(b, "  %-24s %5.1f %% ± %-4.1f %s\n", labels[i], 100*share, 100*normal90*math.Sqrt(x.Variance)/sum, strings.Repeat("#", int(math.Round(barLength*min(share, 1)))))
	}
	b.WriteString("```\n")
}

// shades are those of a map, for counts from none to the largest of a row.
const shades = " .:-=+*#%@"

// maps draws the counted pairs, by cells or by groups of cells, the strongest relations first.
func (t *Table) maps(b *strings.Builder, m *models.Model) {
	type pair struct {
		x               Counts
		labels, columns []string
		strength        float64
	}
	finest := make(map[[2]int]pair)
	for _, x := range t.Tables {
		if len(x.Columns) != 2 {
			continue
		}
		p := pair{x: x, labels: t.grouped(m, x, 0), columns: t.grouped(m, x, 1)}
		p.strength = dependence(x.Counts, len(p.labels), len(p.columns))
		if at := [2]int(x.Columns); len(p.labels) <= mostShown && len(p.columns) <= mostShown && len(x.Counts) > len(finest[at].x.Counts) {
			finest[at] = p
		}
	}
	list := slices.SortedFunc(maps.Values(finest), func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), slices.Compare(a.x.Columns, b.x.Columns))
	})
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Pairs\n\nThe strongest %d of the %d pairs that were counted. Each row is shaded by the shares within it, `%s` from none to\nits largest; the noise is in the pictures.\n", min(picturesOf, len(list)), len(list), strings.TrimLeft(shades, " "))
	for _, p := range list[:min(picturesOf, len(list))] {
		columns := len(p.columns)
		fmt.Fprintf(b, "\n```\n%s by %s (across: %s ... %s)\n", plain(t.Columns[p.x.Columns[0]].Name), plain(t.Columns[p.x.Columns[1]].Name), strings.TrimSpace(p.columns[0]), strings.TrimSpace(p.columns[columns-1]))
		for r, label := range p.labels {
			row := p.x.Counts[r*columns : (r+1)*columns]
			most := max(slices.Max(row), 2*math.Sqrt(p.x.Variance), 1e-9)
			fmt.Fprintf(b, "  %-24s |", label)
			for _, y := range row {
				b.WriteByte(shades[int(max(0, min(y/most, 1))*float64(len(shades)-1)+0.5)])
			}
			b.WriteString("|\n")
		}
		b.WriteString("```\n")
	}
}

// dependence is the distance of a table of counts from the product of its margins.
func dependence(counts []float64, rows, columns int) float64 {
	r, c, n := make([]float64, rows), make([]float64, columns), 0.0
	for i, y := range counts {
		y = max(y, 0)
		r[i/columns] += y
		c[i%columns] += y
		n += y
	}
	sum := 0.0
	for i, y := range counts {
		if n > 0 {
			sum += math.Abs(max(y, 0)-r[i/columns]*c[i%columns]/n) / n
		}
	}
	return sum / 2
}

// labels name the cells of a column.
func (t *Table) labels(m *models.Model, k int) []string {
	return t.grouped(m, Counts{Columns: []int{k}}, 0)
}

// grouped name the cells, or groups of cells, of the i-th column of a table.
func (t *Table) grouped(m *models.Model, x Counts, i int) (list []string) {
	c := &t.Columns[x.Columns[i]]
	at := slices.IndexFunc(m.Spec.Data.Columns, func(d *data.Column) bool { return d.HeaderName() == c.Name })
	declared := m.Spec.Data.Columns[at]
	var groups []int32
	if x.Groups != nil {
		groups = x.Groups[i]
	}
	for cell := 0; cell < c.bins(); cell++ {
		if c.Levels > 0 {
			list = append(list, plain(declared.LevelNames()[cell]))
			continue
		}
		from, _ := c.ends(c.Bins[cell])
		for groups != nil && cell+1 < c.bins() && groups[cell+1] == groups[cell] {
			cell++
		}
		_, to := c.ends(c.next(cell) - 1)
		text := declared.Cell(short(from))
		if to > from {
			text += " to " + declared.Cell(short(to))
		}
		list = append(list, plain(text))
	}
	if c.Missing {
		list = append(list, "missing")
	}
	return list
}

// short is a number with five digits, or a whole one.
func short(x float64) float64 {
	if x == math.Trunc(x) {
		return x
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// plain is a declared text without what Markdown or a terminal would act on.
func plain(text string) string { return printable(text, "`|<") }

// printable puts spaces in the place of some characters and of those that do not print.
func printable(text, without string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(without, r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
