package records

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
)

// undeclared is the code of a cell that is no declared level.
const undeclared = -1

// text encodes a cell given as text.
func (e *encoder) text(c *column, cell []byte) {
	if c.tokens {
		if c.lists && e.isMissing(c.missing, bytes.TrimSpace(cell)) {
			e.absent(c)
			return
		}
		e.tokenise(c, cell)
		return
	}
	if e.numbersAsTheyAre(c) { // the common case, without looking twice
		if x, ok := e.notation.parse(cell); ok {
			e.value(c, x, undeclared, false)
			return
		}
	}
	if n := len(cell); n == 0 || !bare(cell[0]) || !bare(cell[n-1]) {
		cell = bytes.TrimSpace(cell)
	}
	if len(c.symbol) > 0 {
		cell = withoutSymbol(cell, c.symbol)
	}
	code, declared := undeclared, false
	if c.levels != nil && !(c.levels.open != nil && e.isMissing(c.missing, cell)) {
		code, declared = c.levels.find(cell)
	}
	if !declared && e.isMissing(c.missing, cell) {
		e.absent(c)
		return
	}
	if c.levels != nil && !declared {
		code, declared = c.levels.findFolded(cell)
	}
	if c.levels != nil && !declared && !utf8.Valid(cell) {
		c.check.NotUTF8++
		e.mark(c)
	}
	x := math.NaN()
	if c.date {
		if day, ok := e.parseDay(cell); ok {
			e.day(c, day)
			return
		}
	} else if c.numeric {
		if parsed, ok := e.notation.parse(cell); ok {
			x = parsed
		}
	}
	e.value(c, x, code, declared)
}

// bare reports whether b is a whole character that is no space.
func bare(b byte) bool { return b > ' ' && b < utf8.RuneSelf }

// tokenise writes the tokens of a text. Every text has a value, an empty one no token.
func (e *encoder) tokenise(c *column, cell []byte) {
	for i := range c.fields {
		f := &c.fields[i]
		if f.Kind != encoding.Tokens {
			continue
		}
		n := 0
		f.tokenizer.Tokens(cell, func(token int) bool {
			e.row[f.Out[n]] = float64(token)
			n++
			return n < len(f.Out)
		})
		e.pad(f, n)
	}
}

// list writes the tokens of a list of n numbers.
func (e *encoder) list(c *column, n int, number func(i int) float64) {
	for i := range c.fields {
		f := &c.fields[i]
		kept := min(n, len(f.Out))
		for k, out := range f.Out[:kept] {
			e.row[out] = float64(f.tokenizer.Listed(number(k)))
		}
		e.pad(f, kept)
	}
}

// pad writes the padding after the first n tokens. A list that is padded already keeps only
// the zeros at its end, which mark the end of the sequence.
func (e *encoder) pad(f *field, n int) {
	for _, out := range f.Out[n:] {
		e.row[out] = data.Padding
	}
	for n > 0 && e.row[f.Out[n-1]] == data.Padding {
		n--
	}
	for _, out := range f.Out[:n] {
		if e.row[out] == data.Padding {
			e.row[out] = data.Unknown
		}
	}
}

// ownTokenizers gives the column tokenizers that no other part uses.
func (c *column) ownTokenizers() {
	if !c.tokens {
		return
	}
	c.fields = slices.Clone(c.fields)
	for i := range c.fields {
		if t := c.fields[i].tokenizer; t != nil {
			c.fields[i].tokenizer = t.Clone()
		}
	}
}

// day encodes a cell given as a day, counted from 1970-01-01.
func (e *encoder) day(c *column, day int) {
	if slices.Contains(c.missing.days, day) {
		e.absent(c)
		return
	}
	e.value(c, float64(day-c.origin), undeclared, false)
}

// numbersAsTheyAre reports whether the value of a numeric cell of c is the number in the
// file.
func (e *encoder) numbersAsTheyAre(c *column) bool {
	return c.levels == nil && !c.tokens && len(c.missing.numbers) == 0 && !c.date
}

// tokens are texts that mean no value, and the numbers and days that they are.
type tokens struct {
	texts   [][]byte
	numbers []float64
	days    []int // from 1970-01-01
}

// tokensOf are the tokens of a list. Numbers are in the notation of the file, or in that of the
// model file.
func (e *encoder) tokensOf(list []string) (t tokens) {
	for _, text := range list {
		token := []byte(text)
		t.texts = append(t.texts, token)
		x, number := e.notation.parse(token)
		if !number {
			x, number = parseNumber(token)
		}
		if number {
			t.numbers = append(t.numbers, x)
		}
		if day, ok := e.parseDay(token); ok {
			t.days = append(t.days, day)
		}
	}
	return t
}

// isMissing reports whether the text of a cell means no value; a numeric token matches in
// every notation.
func (e *encoder) isMissing(t tokens, cell []byte) bool {
	if len(cell) == 0 {
		return true
	}
	for _, token := range t.texts {
		if bytes.Equal(token, cell) {
			return true
		}
	}
	if len(t.numbers) == 0 {
		return false
	}
	x, number := e.notation.parse(cell)
	return number && slices.Contains(t.numbers, x)
}

// number encodes a cell given as a number; NaN, infinities and the numbers among the
// column's missing tokens are missing.
func (e *encoder) number(c *column, x float64) {
	code, declared := undeclared, false
	none := math.IsNaN(x) || math.IsInf(x, 0)
	missing := none || slices.Contains(c.missing.numbers, x)
	if c.levels != nil && !(c.levels.open != nil && missing) {
		code, declared = c.levels.findNumber(x)
	}
	if none || !declared && missing {
		e.absent(c)
		return
	}
	e.value(c, x, code, declared)
}

// truth encodes a cell given as a truth value.
func (e *encoder) truth(c *column, b bool) {
	x := 0.0
	if b {
		x = 1
	}
	code, declared := undeclared, false
	if c.levels != nil {
		code, declared = c.levels.findBool(b)
	}
	e.value(c, x, code, declared)
}

// value encodes a cell with a value: its number x (NaN if it does not parse) and the code
// of its level, as the fields of the column need them.
func (e *encoder) value(c *column, x float64, code int, declared bool) {
	if c.whole && !math.IsNaN(x) && x != math.Trunc(x) {
		c.check.NotWhole++
		x = math.NaN()
	}
	if c.numeric && math.IsNaN(x) {
		c.check.Unparseable++
		e.mark(c)
	}
	if c.levels != nil && !declared {
		c.check.UnknownLevel++
		e.mark(c)
	}
	missing := false
	for i := range c.fields {
		f := &c.fields[i]
		switch f.Kind {
		case encoding.Numeric, encoding.Quantile:
			missing = !e.numeric(c, f, x) || missing
		case encoding.LevelCode, encoding.OneHot:
			missing = !e.level(f, code, declared) || missing
		case encoding.MissingIndicator:
			e.row[f.Out[0]] = indicator(missing)
		}
	}
	e.note(c, code, declared, missing)
}

// absent encodes a missing cell.
func (e *encoder) absent(c *column) {
	c.check.Missing++
	if c.tokens {
		e.tokenise(c, nil)
		return
	}
	e.note(c, encoding.UnknownMissing, true, true)
	for i := range c.fields {
		f := &c.fields[i]
		if f.Kind == encoding.MissingIndicator {
			e.row[f.Out[0]] = indicator(true)
		} else {
			if f.Missing != encoding.MissingImpute {
				e.mark(c)
			}
			e.missing(f)
		}
	}
}

func indicator(missing bool) float64 {
	if missing {
		return 1
	}
	return 0
}

// numeric encodes x in a Numeric field and reports whether it had a value.
func (e *encoder) numeric(c *column, f *field, x float64) bool {
	if math.IsNaN(x) {
		e.missing(f)
		return false
	}
	if x < f.lower || x > f.upper {
		c.check.OutOfBounds++
		e.mark(c)
		if f.RejectOutside {
			e.reject() // the number is kept for counts
		}
		x = min(max(x, f.lower), f.upper)
	}
	x = f.encode(x)
	if x-x != 0 { // not finite, such as the logarithm of zero
		e.missing(f)
		return false
	}
	e.row[f.Out[0]] = x
	return true
}

// linear reports whether a field is a real number that is only scaled.
func (f *field) linear() bool {
	return f.Kind == encoding.Numeric && f.Type == data.Real && f.transform == nil
}

// direct encodes a finite x in a linear field if it is within the bounds and stays
// finite: the fast path of numeric for the most common cells.
func (e *encoder) direct(f *field, x float64) bool {
	if !(x >= f.lower && x <= f.upper) {
		return false
	}
	x = (x-f.Center)/f.scale + 0 // as encode
	if x-x != 0 {
		return false
	}
	e.row[f.Out[0]] = x
	if e.codes != nil {
		e.noted[f.noted] = 0
	}
	return true
}

// level encodes a level in a LevelCode or OneHot field, with the rule for undeclared
// levels, and reports whether it had a value.
func (e *encoder) level(f *field, code int, declared bool) bool {
	if !declared {
		code = f.Unknown
	}
	switch {
	case code == encoding.UnknownReject:
		e.reject()
		return true
	case code < 0:
		e.missing(f)
		return false
	}
	e.writeLevel(f, code)
	return true
}

// missing applies the declared rule for a field without a value.
func (e *encoder) missing(f *field) {
	switch {
	case f.Missing != encoding.MissingImpute:
		e.reject()
	case f.Kind == encoding.Numeric:
		e.row[f.Out[0]] = f.imputed
	default:
		e.writeLevel(f, int(f.imputed))
	}
}

// writeLevel writes level l of a LevelCode or OneHot field.
func (e *encoder) writeLevel(f *field, l int) {
	if f.Kind == encoding.LevelCode {
		if f.Out[0] >= 0 {
			e.row[f.Out[0]] = float64(l)
		}
		return
	}
	for k, out := range f.Out {
		if out >= 0 {
			e.row[out] = 0
			if k == l {
				e.row[out] = 1
			}
		}
	}
}
