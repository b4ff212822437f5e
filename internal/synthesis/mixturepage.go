package synthesis

import (
	"fmt"
	"math"
	"strings"

	"d3p/internal/models"
)

// Components are those of a fitted mixture, and how many have a weight of at least 1 %.
type Components struct{ All, Used int }

// Utility describes in Markdown what a table of the mixture keeps, after Fill: privacy is a line about
// the release, "" for none. Everything follows from Table 1 and the fit.
func (x *Mixture) Utility(m *models.Model, c Components, privacy string) string {
	var b strings.Builder
	b.WriteString("# What the synthetic table keeps\n\n")
	if privacy != "" {
		fmt.Fprintf(&b, "%s\n\n", privacy)
	}
	fmt.Fprintf(&b, "The table is a mixture's (`engine: mixture`), moved to the columns that Table 1 bought: about %.0f records. Every number\n", x.Law.Records)
	b.WriteString("below follows from released numbers. A distance is a total variation: the share of records that would have to move.\n\n## How close it is\n\n")
	fmt.Fprintf(&b, "- Rows of the mixture: %.0f %%. The others are drawn from Table 1, because the mixture agrees with it no further.\n", 100*x.Share)
	fmt.Fprintf(&b, "- Tables of two columns are %.3f from those that Table 1 suggests by its shares and correlations; independent\n  columns are %.3f from them. Table 1 has no tables of two numbers, so nothing tells how far the records' are.\n", x.Distance, x.Apart)
	fmt.Fprintf(&b, "- Components with a weight of at least 1 %%: %d of %d.\n", c.Used, c.All)
	b.WriteString("\nWith `engine: marginals` every pair of columns is counted, and this page has its expected distance.\n\n")
	b.WriteString("| column | expected distance, from the noise of Table 1 |\n|---|---|\n")
	for _, l := range x.Law.Columns {
		if l.Shares == nil {
			continue
		}
		sum := 0.0
		for _, sd := range l.ShareSD {
			sum += 0.8 * sd / 2 // 0.8 is the mean of |N(0, 1)|
		}
		fmt.Fprintf(&b, "| %s | %.3f |\n", plain(l.Name), math.Min(1, sum))
	}
	rules(&b, m)
	b.WriteString(unfitMixture)
	return b.String()
}

const unfitMixture = `
## What it is not good for

- Standard errors. Draw --separate tables, estimate from each and combine the results with d3p combine.
- Relations that neither the mixture nor a correlation shows: a column that rises and falls with another, rare
  combinations, what three columns do together.
- Single records. No row is a person, and a rare combination is noise as often as it is a fact.
- Decisions. Confirm on the records, or fit the question itself with d3p fit.
`
