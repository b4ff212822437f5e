package synthesis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/marginals"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/simulate"
)

// Limits of the tables of zeros: constraints over more are met by drawing again.
const (
	mostZeroColumns = 3
	mostZeroCells   = 1 << 16
)

// valuesOfCell is the number of values that zeros tries in each cell, by the number of columns
// of a constraint. For a single column of whole numbers it tries all values.
var valuesOfCell = [mostZeroColumns + 1]int{1: mostIntegers, 2: 8, 3: 5}

// rule is the effect of a condition on the cells of the columns that it reads.
type rule struct {
	marginals.Zeros        // cells in which every value breaks it
	some            []bool // by cell: some values break it, others meet it
	text            string // of the constraint
}

// impossible are the zeros of the declared constraints.
func impossible(m *models.Model, columns []Column) ([]marginals.Zeros, error) {
	rules, err := rulesOf(m, columns)
	return zerosOf(rules), err
}

// zerosOf are the rules' zeros, as far as they have any.
func zerosOf(rules []rule) (zeros []marginals.Zeros) {
	for _, r := range rules {
		if slices.Contains(r.Empty, true) {
			zeros = append(zeros, r.Zeros)
		}
	}
	return zeros
}

// rulesOf tries values of each cell of numbers on the declared constraints. It takes a cell to
// be empty by mistake only if a constraint admits values between these and none of them.
func rulesOf(m *models.Model, columns []Column) ([]rule, error) {
	twin, err := simulate.NewTwin(m)
	if err != nil {
		return nil, err
	}
	declared := m.Spec.Data.AllColumns()
	var rules []rule
	for i, reads := range twin.Conditions() {
		var set marginals.Set
		cells := 1
		for _, at := range reads {
			k := slices.IndexFunc(columns, func(c Column) bool { return c.Name == declared[at].HeaderName() })
			if k < 0 {
				break
			}
			set = append(set, k)
			cells *= columns[k].cells()
		}
		if len(set) < len(reads) || len(set) > mostZeroColumns || cells > mostZeroCells {
			continue
		}
		sorted := marginals.NewSet(set...)
		r := rule{marginals.Zeros{Set: sorted, Empty: make([]bool, cells)}, make([]bool, cells), m.Spec.Twin.Constraints[i].Text.V}
		for cell := range r.Empty {
			ok := met(twin, i, cell, columns, sorted, len(declared), func(k int) int {
				return slices.IndexFunc(declared, func(c *data.Column) bool { return c.HeaderName() == columns[k].Name })
			})
			r.Empty[cell] = !slices.Contains(ok, true)
			r.some[cell] = !r.Empty[cell] && slices.Contains(ok, false)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// contradicted reports columns whose cells the constraints exclude all, or all but the missing
// one. Numbers are divided into fine cells, because bins are not known before counts are.
func contradicted(m *models.Model, columns []Column) error {
	columns = slices.Clone(columns)
	domain := make(marginals.Domain, len(columns))
	for k := range columns {
		if c := &columns[k]; c.Levels == 0 {
			c.Bins = make([]int, c.fine())
			for i := range c.Bins {
				c.Bins[i] = i
			}
		}
		domain[k] = columns[k].cells()
	}
	rules, err := rulesOf(m, columns)
	if err != nil {
		return err
	}
	zeros := zerosOf(rules)
	if list := excluded(domain, zeros); list != nil {
		return fmt.Errorf("no values of %s meet the constraints (correct `constraints:`, or the bounds and levels)", listed(columns, list))
	}
	const hint = "only missing ones do (correct `constraints:`, or the bounds and levels)"
	read := make([]bool, len(columns))
	for _, r := range rules {
		if r.needsMissing(columns) {
			return fmt.Errorf("no values of %s meet the constraint %q, %s", listed(columns, r.Set), r.text, hint)
		}
		for _, k := range r.Set {
			read[k] = true
		}
	}
	for k := range columns {
		if !columns[k].Missing || !read[k] {
			continue
		}
		present := marginals.Zeros{Set: marginals.Set{k}, Empty: make([]bool, domain[k])}
		present.Empty[domain[k]-1] = true
		if excluded(domain, append(slices.Clip(zeros), present)) != nil {
			return fmt.Errorf("no values of %s meet the constraints, %s", columns[k].Name, hint)
		}
	}
	return nil
}

// excluded are columns whose cells are all zeros; nil: none, or the cliques of fine cells, which
// are larger than those of bins, are too large to tell.
func excluded(domain marginals.Domain, zeros []marginals.Zeros) marginals.Set {
	tree, err := marginals.NewTree(domain, nil, zeros, treeCells, 1)
	if err == nil {
		tree.Close()
		return nil
	}
	var none marginals.NoCellError
	if !errors.As(err, &none) {
		return nil
	}
	return none.Columns
}

// listed are the names of some columns.
func listed(columns []Column, set marginals.Set) string {
	var names []string
	for _, k := range set {
		names = append(names, columns[k].Name)
	}
	return strings.Join(names, ", ")
}

// needsMissing reports whether the rule excludes every cell without a missing value.
func (r *rule) needsMissing(columns []Column) bool {
	for cell, empty := range r.Empty {
		missing := false
		for i := len(r.Set) - 1; i >= 0; i-- {
			c := &columns[r.Set[i]]
			missing = missing || cell%c.cells() >= c.bins()
			cell /= c.cells()
		}
		if !missing && !empty {
			return false
		}
	}
	return true
}

// met reports which of the values that are tried of a cell meet the condition.
func met(twin *simulate.Twin, condition, cell int, columns []Column, set marginals.Set, width int, place func(int) int) []bool {
	cells := make([]int, len(set))
	for i := len(set) - 1; i >= 0; i-- {
		n := columns[set[i]].cells()
		cells[i], cell = cell%n, cell/n
	}
	rows := 1
	var values [][]float64
	for i, k := range set {
		values = append(values, columns[k].examples(cells[i], valuesOfCell[len(set)]))
		rows *= len(values[i])
	}
	table := make([][]float64, width)
	for k := range table {
		table[k] = make([]float64, rows)
	}
	for r := range rows {
		rest := r
		for i, k := range set {
			n := len(values[i])
			table[place(k)][r], rest = values[i][rest%n], rest/n
		}
	}
	ok := make([]bool, rows)
	twin.Met(ok, table, condition)
	return ok
}

// examples are values of a cell: its ends and some between.
func (c *Column) examples(cell, most int) []float64 {
	switch {
	case cell >= c.bins():
		return []float64{math.NaN()}
	case c.Levels > 0:
		return []float64{float64(cell)}
	}
	first, last := c.Bins[cell], c.fine()-1
	if cell+1 < len(c.Bins) {
		last = c.Bins[cell+1] - 1
	}
	from, _ := c.ends(first)
	_, to := c.ends(last)
	list := []float64{}
	if c.Whole {
		most = min(most, max(2, int(to-from)+1))
	}
	for i := range most {
		x := from + (to-from)*float64(i)/float64(most-1)
		if c.Whole {
			x = math.Round(x)
		}
		list = append(list, x)
	}
	return slices.Compact(list)
}
