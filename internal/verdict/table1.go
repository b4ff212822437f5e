package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/encoding"
	"d3p/internal/models/formula"
	"d3p/internal/outputs"
	"d3p/internal/score"
	"d3p/internal/table1"
)

// ByTable1 is what Table 1, bought, and the declarations of m tell of the records.
func ByTable1(m *models.Model, bought []table1.Row) Known {
	known := Known{Assumed: Unmeasured(m, len(bought) > 0, correlates(bought)), Counted: len(bought) > 0, Levels: map[string][]Level{}, Open: open(m, bought), Within: map[string]string{}}
	for _, c := range m.Spec.Data.AllColumns() {
		if group := c.ConstantWithin.V; group != "" && group != data.NoGroup {
			known.Within[c.Name.V] = group
		}
	}
	for _, row := range bought {
		if row.Statistic == table1.SDWithin && row.Value < hardlyWithin*row.NoiseSD {
			known.Within[row.Column] = row.Of
		}
	}
	known.readRows(m, bought)
	known.readLevels(m, bought)
	known.Events, known.Cutpoints = events(m, bought, known.Usable), cutpoints(m, bought, known.Usable)
	known.Others = others(m, bought, known.Usable)
	known.Constant = withoutSpread(bought)
	known.Tails = openTails(bought)
	known.Unchecked = unchecked(m)
	known.Normal = m.Spec.Model != nil && formula.FamilyOf(m.Spec.Model.Family.V).Name == "normal"
	return known
}

// unchecked is the family of censored times. Where few times are known, another family has hardly other likelihoods:
// of 5000 times of Weibull's family (ε = 1 and 4) the fits of log_logistic had no sign of it.
func unchecked(m *models.Model) string {
	for _, o := range m.Observed {
		switch {
		case !isCensored(o):
		case m.Spec.Model == nil:
			return fmt.Sprintf("d3p does not know whether the distribution of the censored %s is right", o.Name)
		case formula.FamilyOf(m.Spec.Model.Family.V).Name != "piecewise_exponential":
			return fmt.Sprintf("d3p does not know whether the family %s suits the censored %s: family piecewise_exponential assumes no shape", m.Spec.Model.Family.V, o.Name)
		}
	}
	return ""
}

// isCensored reports whether values of an observation are known from below alone.
func isCensored(o models.Observation) bool {
	truncated, _ := o.Density.(dist.Truncated)
	_, censored := o.Density.(dist.Censored)
	return censored || truncated.Event != nil
}

// Check adds to k what Table 1, bought, and the counts q after the last step, nil without any, tell of draws d of m.
func (k *Known) Check(m *models.Model, d *outputs.Draws, q *score.Surprisals, bought []table1.Row) {
	response := responseOf(m)
	if response == nil {
		return
	}
	l, err := table1.LawOf(bought, &m.Spec.Data)
	if err != nil { // rows of another model
		return
	}
	k.Piles = piles(m, response, l)
	k.Pile, k.Advice = advise(m, response, l)
	k.Misfit, k.Dependent, k.Weights = misfit(m, d, response, l, k.advice()), collinear(m, l), overweighted(m, l)
	if response.Numeric() { // a level is nowhere far out: its gradients are long by predictors alone
		k.FarOut = farOut(m, d, q, l)
	}
	for column, counted := range farPredictors(m, q, l.Records) {
		if open := k.Tails[column]; !counted.Hidden || !open.Open {
			counted.Open = open.Open
			k.Tails[column] = counted
		}
	}
}

// readRows sets the usable records, what most of the others lack, and whether the sd of the response is open.
func (k *Known) readRows(m *models.Model, bought []table1.Row) {
	most, response := lostShare, responseOf(m)
	for _, row := range bought {
		lost := ""
		switch {
		case row.Open && response != nil && row.Column == response.Name.V && row.High != nil:
			k.OpenSD = fmt.Sprintf("Table 1 leaves the sd of %s open, %.3g or up to %.3g: the fit does not follow a few records far out", row.Column, row.Value, *row.High)
		case row.Statistic == table1.Units:
			k.Usable, k.UsableSD = row.Value, row.NoiseSD
		case row.Statistic == table1.Undeclared:
			lost = "has a level that is not declared"
		case row.Statistic == table1.Missing && rejects(m, row.Column):
			lost = "is missing or cannot be read"
		}
		if lost != "" && row.Value > max(most, levelNoise*row.NoiseSD) {
			most = row.Value
			k.Lost = fmt.Sprintf("%s %s in about %.0f %% of all", row.Column, lost, 100*min(row.Value, 1))
		}
	}
}

// readLevels sets the numbers of records by column and level.
func (k *Known) readLevels(m *models.Model, bought []table1.Row) {
	for _, row := range bought {
		if row.Statistic == table1.Share {
			level := Level{Name: row.Of, Records: k.Usable * row.Value, SD: max(k.Usable, 1) * row.NoiseSD}
			if c := m.Spec.Data.Column(row.Column); c != nil && c.Type.V != data.Binary && !c.Numeric() {
				level.Reference = c.Levels[c.ReferenceLevel()].V == row.Of
			}
			k.Levels[row.Column] = append(k.Levels[row.Column], level)
		}
	}
}

// events are the records whose response, levels or whole numbers, is not its commonest
// value.
func events(m *models.Model, bought []table1.Row, records float64) Level {
	response := responseOf(m)
	if response == nil || response.Type.V == data.Real || response.Type.V == data.Date {
		return Level{}
	}
	return beside(response.Name.V, bought, records)
}

// cutpoints are the records on the scarcer side of each cutpoint of an ordinal response.
func cutpoints(m *models.Model, bought []table1.Row, records float64) (list []Level) {
	response := responseOf(m)
	if response == nil || response.Type.V != data.Ordinal {
		return nil
	}
	var below, variance []float64 // shares up to each level
	share, square := 0.0, 0.0
	for _, row := range bought {
		if row.Column == response.Name.V && row.Statistic == table1.Share {
			share, square = share+row.Value, square+row.NoiseSD*row.NoiseSD
			below, variance = append(below, share), append(variance, square)
		}
	}
	for k := 1; k < len(below); k++ {
		level := Level{Name: fmt.Sprintf("%s up to %s", response.Name.V, response.Levels[k-1].V), Records: records * below[k-1], SD: max(records, 1) * math.Sqrt(variance[k-1])}
		if below[k-1] > share/2 {
			level = Level{Name: fmt.Sprintf("%s from %s", response.Name.V, response.Levels[k].V), Records: records * (share - below[k-1]), SD: max(records, 1) * math.Sqrt(square-variance[k-1])}
		}
		list = append(list, level)
	}
	return list
}

// responseOf is the column of a formula's response; nil for other models.
func responseOf(m *models.Model) *data.Column {
	at := slices.IndexFunc(m.Encoding.Fields, func(f encoding.Field) bool { return f.Role == encoding.Response })
	if m.Spec.Model == nil || at < 0 {
		return nil
	}
	return m.Spec.Data.Column(m.Encoding.Fields[at].Column)
}

// others are the records that have another number than the commonest, by column of whole numbers.
func others(m *models.Model, bought []table1.Row, records float64) map[string]Level {
	found := map[string]Level{}
	for _, c := range m.Spec.Data.Columns {
		if c.Type.V == data.Integer {
			if level := beside(c.Name.V, bought, records); level.Name != "" {
				found[c.Name.V] = level
			}
		}
	}
	return found
}

// withoutSpread are the columns of numbers that may have no deviation, and whose quartiles all have
// the same limits.
func withoutSpread(bought []table1.Row) (columns []string) {
	same := map[string]int{} // the quartiles with the limits of the first one
	var first table1.Row
	for _, row := range bought {
		switch row.Statistic {
		case table1.SD:
			if row.Low != nil && *row.Low == 0 {
				same[row.Column] = 0
			}
		case table1.Quartile1, table1.Median, table1.Quartile3:
			if row.Statistic == table1.Quartile1 {
				first = row
			}
			n, may := same[row.Column]
			if !may || row.Low == nil || *row.Low != *first.Low || *row.High != *first.High {
				continue
			}
			if same[row.Column] = n + 1; n == 2 {
				columns = append(columns, row.Column)
			}
		}
	}
	return columns
}

// A column of numbers has an open tail if the upper limit of its standard deviation is openTimes times
// that, and a long one if its quartiles are also less than nearQuartiles of it apart: 1.35 of a normal, 1 of an exponential.
const openTimes, nearQuartiles = 3, 1.1

func isOpen(row table1.Row) bool {
	return row.Statistic == table1.SD && row.High != nil && *row.High > openTimes*row.Value
}

// openTails are the predictors with so long a tail that a few records may decide about their coefficients. Of 10,000 records
// (negative binomial, epsilon 3), the coefficient of a lognormal column, which has less effect far out,
// was 6 standard deviations from that without privacy, which does not clip.
func openTails(bought []table1.Row) map[string]Tail {
	found, quartile := map[string]Tail{}, map[string]float64{}
	for _, row := range bought {
		if row.Statistic == table1.Quartile1 {
			quartile[row.Column] = row.Value
		}
	}
	sd := map[string]table1.Row{}
	for _, row := range bought {
		switch own := sd[row.Column]; {
		case row.Statistic == table1.SD:
			sd[row.Column] = row
		case row.Statistic != table1.Quartile3 || !isOpen(own):
		case row.Value-quartile[row.Column] < nearQuartiles*own.Value:
			why := fmt.Sprintf("%s has a long tail, with an sd of %.3g or up to %.3g by Table 1: a few records far out may decide about it, and the fit clips them (declare a transform)", row.Column, own.Value, *own.High)
			found[row.Column] = Tail{Why: why, Share: 1 - math.Pow(own.Value / *own.High, 2), Open: true}
		}
	}
	return found
}

// beside are the records whose value of a column is not its commonest one; nothing where the fullest
// cell holds several numbers. The shape of fewer records than the noise of a count is unknown.
func beside(column string, bought []table1.Row, records float64) Level {
	var most table1.Row
	share, variance, noise := 0.0, 0.0, math.Inf(1)
	for _, row := range bought {
		if row.Column == column && (row.Statistic == table1.Share || row.Statistic == table1.Cell) {
			share, variance, noise = share+row.Value, variance+square(row), min(noise, row.NoiseSD)
			if row.Value >= most.Value {
				most = row
			}
		}
	}
	from, to, cell := strings.Cut(most.Of, " to ")
	low, _ := strconv.ParseFloat(from, 64)
	high, _ := strconv.ParseFloat(to, 64)
	if share == 0 || cell && high-low > 1 {
		return Level{}
	}
	rest, sd := share-most.Value, math.Sqrt(variance-square(most))
	if rest < noise {
		sd = max(sd, noise)
	}
	return Level{Name: "a value of " + most.Column + " other than the commonest", Records: records * rest, SD: max(records, 1) * sd}
}

// square is that of the error of a row by the shape of its column.
func square(r table1.Row) float64 { return math.Pow(cmp.Or(r.ShapeSD, r.NoiseSD), 2) }

// lostShare is the share of the records that a column has to lose to be named.
const lostShare = 0.05

// rejects reports whether a row without a value of the column is left out.
func rejects(m *models.Model, column string) bool {
	c := m.Spec.Data.Column(column)
	return c != nil && m.Spec.Data.MissingOf(c).Rule == data.MissingReject
}

// correlates reports whether Table 1 tells how columns vary together.
func correlates(bought []table1.Row) bool {
	return slices.ContainsFunc(bought, func(r table1.Row) bool {
		return r.Statistic == table1.Correlation || r.Statistic == table1.MeanScore
	})
}

// Unmeasured is the unmeasured part of the predictors' spread, on which the intervals rest:
// whether columns were counted, and whether Table 1 tells how they vary together.
func Unmeasured(m *models.Model, counted, together bool) string {
	switch n := predictors(m); {
	case n > 0 && !counted:
		return "how the predictors are spread is declared, not measured (--table1 auto buys it where records and epsilon allow)"
	case n > 1 && !together:
		return "whether predictors vary together was not measured: the budget is too small for that with so few records"
	}
	return ""
}

// predictors is the number of columns that a model without networks reads but does not
// describe.
func predictors(m *models.Model) int {
	if len(m.Spec.Nets) > 0 {
		return 0
	}
	return len(m.Given())
}
