package encoding

import (
	"strconv"

	"d3p/internal/models/data"
)

// Builder decides which encoded columns a model needs: every reading of a raw
// column that an expression asks for gets a place in the encoded record, once.
type Builder struct {
	data   *data.Data
	Fields []Field
	places map[string]int // of each reading
	oneHot map[string]int // index in fields of a column's OneHot field
	next   int            // number of encoded columns so far
}

// NewBuilder returns a Builder for a declared table, before any request.
func NewBuilder(d *data.Data) *Builder {
	return &Builder{data: d, places: make(map[string]int), oneHot: make(map[string]int)}
}

// Encoding returns the encoding of all requested columns.
func (e *Builder) Encoding() Encoding {
	enc := Encoding{Fields: e.Fields, K: e.next, Decimal: e.data.Decimal.V, Thousands: e.data.Thousands.V, Dates: e.data.Dates.V, Text: e.data.Encoding.V,
		Format: e.data.Format.V, Separator: e.data.Separator.V, Quotes: e.data.Quotes.V, Headless: len(e.data.Header) > 0}
	for _, name := range e.data.Header {
		enc.Header = append(enc.Header, name.V)
	}
	if !enc.Headless {
		enc.Header = append(enc.Header, e.data.Headers()...)
	}
	for _, t := range e.data.Tensors {
		if t.Tokens.IsSet() {
			if enc.Lists == nil {
				enc.Lists = make(map[string]int)
			}
			enc.Lists[t.From.V] = max(enc.Lists[t.From.V], t.Size())
		}
	}
	for _, c := range e.data.Columns {
		if g := e.data.Group(c); g != nil {
			enc.Within = append(enc.Within, Within{Column: c.HeaderName(), Group: g.HeaderName()})
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
		enc.MissingTokens = data.UsualMissingTokens()
	}
	return enc
}

// place returns the encoded column of a reading, made by make at first use.
func (e *Builder) place(reading string, make func(at int)) int {
	if at, ok := e.places[reading]; ok {
		return at
	}
	at := e.next
	e.next++
	e.places[reading] = at
	make(at)
	return at
}

// Scaled is a number on its declared scale, (transform(x) - center) / by.
func (e *Builder) Scaled(c *data.Column, role Role) int {
	return e.place(c.Name.V+" scaled", func(at int) {
		f := e.field(c, Numeric, role, at)
		f.Transform = c.Transform.V
		f.Center, f.Scale = c.Scale()
		e.Fields = append(e.Fields, f)
	})
}

// Raw is a number in the unit of the file, clamped to its bounds.
func (e *Builder) Raw(c *data.Column, role Role) int {
	return e.place(c.Name.V+" raw", func(at int) {
		e.Fields = append(e.Fields, e.field(c, Numeric, role, at))
	})
}

// Code is the index of a category's level, or the 0 or 1 of a binary column.
func (e *Builder) Code(c *data.Column, role Role) int {
	return e.place(c.Name.V+" code", func(at int) {
		e.Fields = append(e.Fields, e.field(c, LevelCode, role, at))
	})
}

// Level is 1 in records of that level and 0 in others.
func (e *Builder) Level(c *data.Column, level int) int {
	return e.place(c.Name.V+" level "+strconv.Itoa(level), func(at int) {
		i, ok := e.oneHot[c.Name.V]
		if !ok {
			f := e.field(c, OneHot, Predictor, -1)
			for range c.Levels[1:] {
				f.Out = append(f.Out, -1)
			}
			i = len(e.Fields)
			e.Fields = append(e.Fields, f)
			e.oneHot[c.Name.V] = i
		}
		e.Fields[i].Out[level] = at
	})
}

// Missing is 1 in records with a missing, imputed value.
func (e *Builder) Missing(c *data.Column) int {
	return e.place(c.Name.V+" missing", func(at int) {
		e.Fields = append(e.Fields, e.field(c, MissingIndicator, Predictor, at))
	})
}

// Absent is 1 in records with a missing value, for a column whose missing values are part
// of the model.
func (e *Builder) Absent(c *data.Column) int {
	return e.place(c.Name.V+" absent", func(at int) {
		e.Fields = append(e.Fields, e.field(c, MissingIndicator, Response, at))
	})
}

// Factor is the reading of one factor of a coefficient's label.
func (e *Builder) Factor(f data.Factor) int {
	switch {
	case f.Missing:
		return e.Missing(f.Column)
	case f.Level >= 0:
		return e.Level(f.Column, f.Level)
	case f.Column.Numeric():
		return e.Scaled(f.Column, Predictor)
	}
	return e.Code(f.Column, Predictor)
}

// field fills in a field from a column's declaration.
func (e *Builder) field(c *data.Column, kind FieldKind, role Role, at int) Field {
	f := Field{
		Column: c.HeaderName(), Type: c.Type.V, Kind: kind, Role: role,
		RejectOutside: e.data.OutOfRange.V == "reject",
		Missing:       MissingRule(e.data.MissingOf(c).Rule), Out: []int{at},
	}
	for _, t := range c.MissingTokens {
		f.MissingTokens = append(f.MissingTokens, t.V)
	}
	if c.Numeric() {
		lower, upper := c.Lower.V, c.Upper.V
		f.Lower, f.Upper, f.Origin, f.Symbol = &lower, &upper, c.Origin.V, c.Symbol.V
	} else {
		f.Levels, f.Spelled = c.LevelNames(), c.Spellings()
		f.Unknown = UnknownReject
		if c.Unknown.IsSet() && c.Unknown.V != data.RejectRow {
			f.Unknown = c.Level(c.Unknown.V)
		}
	}
	switch {
	case string(f.Missing) == data.MissingModel:
		// nothing reads this value: the indicator marks it as missing
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

// Tensor gives the columns of a tensor neighbouring places.
func (e *Builder) Tensor(t *data.Tensor, role Role) int {
	kind := Numeric
	if t.Binarize.V == data.Stochastic {
		kind = Quantile
	}
	if t.Sequence() {
		return e.sequence(t, role)
	}
	first := -1
	for _, c := range t.Columns {
		at := e.place(c.Name.V+" in "+t.Name.V, func(at int) {
			f := e.field(c, kind, role, at)
			f.Center, f.Scale = c.Scale()
			e.Fields = append(e.Fields, f)
		})
		if first < 0 {
			first = at
		}
	}
	return first
}

// sequence gives the tokens of a text or list neighbouring places.
func (e *Builder) sequence(t *data.Tensor, role Role) int {
	reading := t.From.V + " in " + t.Name.V
	if at, ok := e.places[reading]; ok {
		return at
	}
	f := Field{Column: t.From.V, Type: "text", Kind: Tokens, Role: role, Missing: MissingImpute, Vocabulary: t.Vocabulary, Words: t.Words.IsSet(), Listed: t.Tokens.V}
	first := e.next
	for i := range t.Columns {
		f.Out = append(f.Out, first+i)
	}
	e.next += len(t.Columns)
	e.places[reading] = first
	e.Fields = append(e.Fields, f)
	return first
}
