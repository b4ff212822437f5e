package verdict

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/naming"
	"d3p/internal/outputs"
)

// Few and scarce are records of a level; levelNoise are standard deviations of the noise of their number.
const (
	fewRecords    = 10
	scarceRecords = 50
	levelNoise    = 3
	mostFar       = 0.5 // of a level's records
)

// Known is released information about the records besides the fit.
type Known struct {
	// Assumed is the unmeasured part of the predictors' spread; empty if none. Counted
	// reports whether it is only how they vary together, on which coefficients alone rest.
	Assumed string
	Counted bool
	// Unfinished is why there is no posterior to judge: the fit ended far from its end,
	// or released one draw; empty for a complete fit.
	Unfinished string
	// Steps are those that the fit took; 0: unknown.
	Steps int
	// Declared and Usable are numbers of units; UsableSD is the noise of Usable, 0 if the
	// fit did not buy it.
	Declared, Usable, UsableSD float64
	// Lost describes the column that loses most records; empty if none loses many.
	Lost string
	// Levels are the numbers of records by column and level.
	Levels map[string][]Level
	// Open are the predictors that may have one value for all records of a group: the
	// group, by column.
	Open map[string]string
	// Within are the groups within which predictors have one value, or may have by Table 1, by column.
	Within map[string]string
	// Events are the records whose response is not its commonest value; all parameters rest
	// on them. Without a name they are unknown.
	Events Level
	// Misfit is a verdict on all variables if the model predicts the response otherwise than
	// its distribution was bought; its value is empty if not.
	Misfit outputs.Verdict
	// Piles describe the predictors of which Table 1 shows a pile at a bound, by column.
	Piles map[string]string
	// Unchecked is a part of the model that no released number checks; empty if there is none.
	Unchecked string
	// Advice is what to do about other responses than the model predicts; empty: choose another family or formula.
	// Pile describes the responses that stand at a declared bound by Table 1; empty if it shows none.
	Advice, Pile string
	// Weights is a verdict on all variables if records count as more than one.
	Weights outputs.Verdict
	// Units is a verdict on all variables if a unit has several rows. OpenRows is what is not known of how alike the rows
	// are, by parameter; nil where Units contains it.
	Units    outputs.Verdict
	OpenRows []float64
	// FarOut are the records that the model predicts nowhere.
	FarOut FarOut
	// Dependent are verdicts on the coefficients of predictors that may follow from others, by
	// column.
	Dependent map[string]outputs.Verdict
	// Cutpoints are the records on the scarcer side of each cutpoint of an ordinal response.
	Cutpoints []Level
	// OpenSD is why the standard deviation of the response, and intervals with it, may be larger than
	// the fit's; empty if Table 1 has no sign of it.
	OpenSD string
	// Normal reports that the family is normal: then intervals of coefficients follow from that deviation.
	Normal bool
	// Tails are the records far out in a predictor, by column.
	Tails map[string]Tail
	// Others are the records that have another number than the commonest one, by column.
	Others map[string]Level
	// Constant are columns of numbers whose records may all have one value, by Table 1.
	Constant []string
}

// Level is the number of records with a level.
type Level struct {
	Name        string
	Records, SD float64 // SD is the noise of Records
	Reference   bool    // the other levels of its column are compared with it
}

// besideRecords is the verdict on a variable by the numbers of records that it rests on.
func (k Known) besideRecords(name string, all []outputs.Variable) (verdict outputs.Verdict) {
	if k.Unfinished != "" {
		verdict = worse(verdict, outputs.Not, "%s", k.Unfinished)
	}
	if k.UsableSD != 0 && k.Usable < max(fewRecords, levelNoise*k.UsableSD) {
		verdict = worse(verdict, outputs.Not, "about %.0f ± %.0f records are usable", math.Max(0, k.Usable), k.UsableSD)
	}
	for _, level := range append(k.levelsOf(name, all), k.othersOf(name)...) {
		switch {
		case level.Records < fewRecords || level.Records < levelNoise*level.SD:
			verdict = worse(verdict, outputs.Not, "about %.0f ± %.0f records have %s", math.Max(0, level.Records), level.SD, level.Name)
		case level.Records < scarceRecords || level.Records < 2*levelNoise*level.SD:
			verdict = worse(verdict, outputs.Partly, "about %.0f ± %.0f records have %s", level.Records, level.SD, level.Name)
		}
		if k.FarOut.Records > mostFar*level.Records { // a level whose coefficient is wrong has all its records far out
			verdict = worse(verdict, outputs.Not, "about %.0f ± %.0f records are far from all that the model predicts: they may be those that have %s", k.FarOut.Records, k.FarOut.SD, level.Name)
		}
	}
	if k.OpenSD != "" && k.restsOnErrors(name) {
		verdict = worse(verdict, outputs.Partly, "%s", k.OpenSD)
	}
	for _, e := range k.outcomesOf(name) {
		switch {
		case e.Records < fewRecords || e.Records < levelNoise*e.SD:
			verdict = worse(verdict, outputs.Not, "about %.0f ± %.0f records have %s", math.Max(0, e.Records), e.SD, e.Name)
		case e.Records < scarceRecords:
			verdict = worse(verdict, outputs.Partly, "about %.0f ± %.0f records have %s", e.Records, e.SD, e.Name)
		}
	}
	return verdict
}

// restsOnErrors reports whether a variable's interval follows from the spread of the errors.
func (k Known) restsOnErrors(variable string) bool {
	own := parameterOf(variable)
	return own == naming.Sigma || k.Normal && (own == naming.Intercept || own == naming.Slopes)
}

// besideAssumed is the verdict on a variable if a part of the predictors' spread is assumed: in
// tables with correlated predictors or wrong scales most intervals of coefficients do not
// hold. Dispersions contain what wrong coefficients do not explain, so without any counts
// theirs do not, either.
func (k Known) besideAssumed(variable string) outputs.Verdict {
	switch {
	case k.Assumed == "":
		return outputs.Verdict{}
	case parameterOf(variable) == naming.Slopes || !k.Counted:
		return outputs.Verdict{Value: outputs.Not, Why: k.Assumed}
	}
	return outputs.Verdict{Value: outputs.Partly, Why: k.Assumed}
}

// besideColumns is the verdict on a coefficient by what Table 1 tells of its columns.
func (k Known) besideColumns(variable string) (verdict outputs.Verdict) {
	for _, column := range columnsOf(variable) {
		verdict = worst(verdict, k.Dependent[column])
		if why := k.Piles[column]; why != "" {
			verdict = worse(verdict, outputs.Partly, "%s", why)
		}
		if slices.Contains(k.Constant, column) {
			verdict = worse(verdict, outputs.Not, "Table 1 sees no spread of %s: all records may have one value, or stand at a bound to which they were moved (d3p check MODEL --data FILE --out PRIVATE counts them)", column)
		}
	}
	if column, group := k.openOf(variable); group != "" {
		verdict = worse(verdict, outputs.Not, "%s may have one value for all records of a %s, and its interval is then several times too narrow: declare constant_within: %[2]s, or none", column, group)
	}
	return verdict
}

// openOf is the column of a variable, b[column] or b[column=level], that is open, and its
// group.
func (k Known) openOf(variable string) (column, group string) {
	for _, column := range columnsOf(variable) {
		if group := k.Open[column]; group != "" {
			return column, group
		}
	}
	return "", ""
}

// outcomesOf are the records with the outcomes on which a variable rests.
func (k Known) outcomesOf(variable string) (list []Level) {
	if k.Events.Name != "" {
		list = append(list, k.Events)
	}
	base, element := naming.Split(variable)
	if i, err := strconv.Atoi(element); err == nil && base == naming.Thresholds && i <= len(k.Cutpoints) {
		list = append(list, k.Cutpoints[i-1])
	}
	return list
}

// othersOf are the Others of the columns of a variable.
func (k Known) othersOf(variable string) (found []Level) {
	for _, column := range columnsOf(variable) {
		if level, ok := k.Others[column]; ok {
			found = append(found, level)
		}
	}
	return found
}

// columnsOf are the columns of a coefficient, b[column], b[column=level:column] or b[column,effect],
// among other words.
func columnsOf(variable string) []string {
	base, element := naming.Split(variable)
	if element == "" || base != naming.Slopes && base != naming.Raw(naming.Slopes) {
		return nil
	}
	return wordsOf(element)
}

// wordsOf are the parts of an element that may be a column, or a column=level: names and levels may
// have commas, colons and equals signs of their own.
func wordsOf(element string) (words []string) {
	for start := 0; ; {
		for end := start + 1; end < len(element); end++ {
			if strings.IndexByte(":=,", element[end]) >= 0 {
				words = append(words, element[start:end])
			}
		}
		words = append(words, element[start:])
		next := strings.IndexByte(element[start:], ':')
		if next < 0 {
			return words
		}
		start += next + 1
	}
}

// levelsOf are the levels that a variable compares: the named level and the reference. An
// intercept is about the reference levels of all columns that some variable compares.
func (k Known) levelsOf(variable string, all []outputs.Variable) (found []Level) {
	base, element := naming.Split(variable)
	if isIntercept(variable) {
		for _, column := range slices.Sorted(maps.Keys(k.Levels)) {
			compared := slices.ContainsFunc(all, func(v outputs.Variable) bool { return strings.HasPrefix(v.Name, naming.Slopes+"["+column+"=") })
			for _, level := range k.Levels[column] {
				if level.Reference && compared {
					level.Name = column + "=" + level.Name
					found = append(found, level)
				}
			}
		}
		return found
	}
	if element == "" {
		return nil
	}
	words := wordsOf(element)
	for _, column := range slices.Sorted(maps.Keys(k.Levels)) {
		prefix, reference := column+"=", true
		if isEffect(base) && strings.HasSuffix(base, "_"+column) {
			prefix, reference = "", false
		} else if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, prefix) }) {
			continue
		}
		named := "" // the longest: a level may begin as another does
		for _, level := range k.Levels[column] {
			if len(level.Name) > len(named) && slices.Contains(words, prefix+level.Name) {
				named = level.Name
			}
		}
		for _, level := range k.Levels[column] {
			if level.Name == named || reference && level.Reference {
				level.Name = column + "=" + level.Name
				found = append(found, level)
			}
		}
	}
	return found
}
