package models

import (
	"strconv"

	"d3p/internal/models/data"
)

// encoder decides which encoded columns a model needs: every reading of a raw
// column that an expression asks for gets a place in the encoded record, once.
type encoder struct {
	data   *data.Data
	fields []Field
	places map[string]int // of each reading
	oneHot map[string]int // index in fields of a column's OneHot field
	next   int            // number of encoded columns so far
}

func newEncoder(d *data.Data) *encoder {
	return &encoder{data: d, places: make(map[string]int), oneHot: make(map[string]int)}
}

// encoding returns what has been asked for.
func (e *encoder) encoding() Encoding {
	enc := Encoding{Fields: e.fields, K: e.next, Decimal: e.data.Decimal.V, Dates: e.data.Dates.V, Text: e.data.Encoding.V,
		Format: e.data.Format.V, Separator: e.data.Separator.V, Quotes: e.data.Quotes.V, Headless: len(e.data.Header) > 0}
	for _, name := range e.data.Header {
		enc.Header = append(enc.Header, name.V)
	}
	if !enc.Headless {
		for _, c := range e.data.AllColumns() {
			enc.Header = append(enc.Header, c.HeaderName())
		}
	}
	if unit := e.data.Unit; unit.ID.IsSet() {
		enc.UnitID, enc.RowsPerUnit = unit.ID.V, unit.RowsPerUnit.V
		enc.Keep = KeepRule(unit.Keep.Or(string(KeepRandom)))
	}
	for _, t := range e.data.MissingTokens {
		enc.MissingTokens = append(enc.MissingTokens, t.V)
	}
	if len(enc.MissingTokens) == 0 {
		enc.MissingTokens = DefaultMissingTokens()
	}
	return enc
}

// place returns the encoded column of a reading, made by make at first use.
func (e *encoder) place(reading string, make func(at int)) int {
	if at, ok := e.places[reading]; ok {
		return at
	}
	at := e.next
	e.next++
	e.places[reading] = at
	make(at)
	return at
}

// scaled is a number on its declared scale, (transform(x) - center) / by.
func (e *encoder) scaled(c *data.Column, role Role) int {
	return e.place(c.Name.V+" scaled", func(at int) {
		f := e.field(c, Numeric, role, at)
		f.Transform = c.Transform.V
		f.Center, f.Scale = c.Scale()
		e.fields = append(e.fields, f)
	})
}

// raw is a number in the unit of the file, clamped to its bounds.
func (e *encoder) raw(c *data.Column, role Role) int {
	return e.place(c.Name.V+" raw", func(at int) {
		e.fields = append(e.fields, e.field(c, Numeric, role, at))
	})
}

// code is the index of a category's level, or the 0 or 1 of a binary column.
func (e *encoder) code(c *data.Column, role Role) int {
	return e.place(c.Name.V+" code", func(at int) {
		e.fields = append(e.fields, e.field(c, LevelCode, role, at))
	})
}

// level is 1 in records of that level and 0 in others.
func (e *encoder) level(c *data.Column, level int) int {
	return e.place(c.Name.V+" level "+strconv.Itoa(level), func(at int) {
		i, ok := e.oneHot[c.Name.V]
		if !ok {
			f := e.field(c, OneHot, Predictor, -1)
			for range c.Levels[1:] {
				f.Out = append(f.Out, -1)
			}
			i = len(e.fields)
			e.fields = append(e.fields, f)
			e.oneHot[c.Name.V] = i
		}
		e.fields[i].Out[level] = at
	})
}

// missing is 1 in records whose value was missing and imputed.
func (e *encoder) missing(c *data.Column) int {
	return e.place(c.Name.V+" missing", func(at int) {
		e.fields = append(e.fields, e.field(c, MissingIndicator, Predictor, at))
	})
}

// absent is 1 in records whose value is missing, of a column whose missing
// values are part of the model.
func (e *encoder) absent(c *data.Column) int {
	return e.place(c.Name.V+" absent", func(at int) {
		e.fields = append(e.fields, e.field(c, MissingIndicator, Response, at))
	})
}

// factor is the reading of one factor of a coefficient's label.
func (e *encoder) factor(f data.Factor) int {
	switch {
	case f.Missing:
		return e.missing(f.Column)
	case f.Level >= 0:
		return e.level(f.Column, f.Level)
	case f.Column.Numeric():
		return e.scaled(f.Column, Predictor)
	}
	return e.code(f.Column, Predictor)
}

// field fills in what the declaration of a column says.
func (e *encoder) field(c *data.Column, kind FieldKind, role Role, at int) Field {
	f := Field{
		Column: c.HeaderName(), Type: ColumnType(c.Type.V), Kind: kind, Role: role,
		RejectOutside: e.data.OutOfRange.V == "reject",
		Missing:       MissingRule(e.data.MissingOf(c).Rule), Out: []int{at},
	}
	if c.Numeric() {
		lower, upper := c.Lower.V, c.Upper.V
		f.Lower, f.Upper, f.Origin = &lower, &upper, c.Origin.V
	} else {
		f.Levels = c.LevelNames()
		f.Unknown = UnknownReject
		if c.Unknown.IsSet() && c.Unknown.V != data.RejectRow {
			f.Unknown = c.Level(c.Unknown.V)
		}
	}
	switch {
	case string(f.Missing) == data.MissingModel:
		// Nothing reads this value: the indicator marks it as missing.
		f.Missing = MissingImpute
		if c.Numeric() {
			f.Impute = c.Lower.V
		}
	case f.Missing == MissingImpute:
		if c.Numeric() {
			f.Impute = c.ImputeNumber()
		} else {
			f.Impute = float64(c.Level(c.Missing.Impute.V))
		}
	}
	return f
}

// Predictors is the encoding of a row without what is only observed: what a
// prediction needs to know of it, whosever it is. Its columns are the first of
// a row's.
func (e Encoding) Predictors() Encoding {
	p := Encoding{Header: e.Header, Headless: e.Headless, Text: e.Text, Separator: e.Separator, Quotes: e.Quotes, Dates: e.Dates, MissingTokens: e.MissingTokens, Decimal: e.Decimal}
	for _, f := range e.Fields {
		if f.Role == Response {
			continue
		}
		p.Fields = append(p.Fields, f)
		for _, out := range f.Out {
			p.K = max(p.K, out+1)
		}
	}
	return p
}
