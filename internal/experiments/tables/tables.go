// Package tables simulates tables with the faults of real ones: spikes, skewed amounts, dates,
// rare levels, columns that follow from others, and values that are missing together.
package tables

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"d3p/internal/privacy/noise"
)

// Table is a simulated table with the model file of its twin.
type Table struct {
	Name    string
	Records int // by default
	model   string
	draw    func(n int, random *noise.Random) (header []string, rows [][]string)
	// Target is the binary column that an analyst predicts, One its level.
	Target, One string
	// No record that has column Within[0] at Within[1] has Never[0] at Never[1].
	Never, Within [2]string
}

// List are the tables. The rule of each stands in its model file.
var List = []Table{
	{"households", 20000, householdsModel, households, "ill", "yes", [2]string{"smoker", "yes"}, [2]string{"band", "child"}},
	{"claims", 15000, claimsModel, claims, "lapsed", "yes", [2]string{"plan", "family"}, [2]string{"civil", "single"}},
	{"admissions", 8000, admissionsModel, admissions, "readmitted", "yes", [2]string{"sex", "male"}, [2]string{"ward", "maternity"}},
	{"registry", 25000, registryModel, registry, "relapse", "1", [2]string{"therapy", "none"}, [2]string{"stage", "IV"}},
}

// Model is the model file for n records.
func (t *Table) Model(n int) string { return fmt.Sprintf(t.model, n) }

// Draw simulates n records as cells of a CSV file.
func (t *Table) Draw(n, seed int) (header []string, rows [][]string) {
	return t.draw(n, noise.NewRandom(noise.Public(uint64(seed)).Stream(noise.Twin)))
}

// Keep drops all columns but those from the tables and from the model file.
func (t *Table) Keep(names ...string) {
	all := t.draw
	t.draw = func(n int, random *noise.Random) ([]string, [][]string) {
		header, rows := all(n, random)
		dropped := func(name string) bool { return !slices.Contains(names, name) }
		for i, row := range rows {
			var kept []string
			for j, cell := range row {
				if !dropped(header[j]) {
					kept = append(kept, cell)
				}
			}
			rows[i] = kept
		}
		return slices.DeleteFunc(header, dropped), rows
	}
	t.model = columnLine.ReplaceAllStringFunc(t.model, func(line string) string {
		if slices.Contains(names, columnLine.FindStringSubmatch(line)[1]) {
			return line
		}
		return ""
	})
}

// columnLine is the line of a column in a model file.
var columnLine = regexp.MustCompile(`(?m)^    (\w+): \{type: .*\n`)

func number(x float64) string { return fmt.Sprintf("%g", x) }

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func clamp(x, lower, upper float64) float64 { return min(max(x, lower), upper) }

// rank draws 0, 1, ... below n: r is below k with probability (k/n)^(1/power).
func rank(n int, power float64, random *noise.Random) int {
	return int(float64(n) * math.Pow(random.Uniform(), power))
}
