package records

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/privacy/internal/records/storage"
)

// encoder turns the cells of one record at a time into numbers, by the rules of
// a encoding.Encoding. It is fed by the CSV and the Parquet reader through text,
// number and absent, one call per column in use, identify where units have ids,
// then end.
type encoder struct {
	columns []column
	// partitions has, for each column, the cell of all records of the current file, if the
	// names of folders give it; else nil.
	partitions [][]byte
	units      *units    // nil: every row is a record
	beside     []string  // columns that files must have
	row        []float64 // the row being encoded, length Encoding.K
	codes      *Codes    // nil: they are not kept
	noted      []byte    // state and codes of the row being encoded
	valid      bool
	sound      bool   // the row being encoded is not malformed
	tokens     tokens // of all columns
	parseDay   func(cell []byte) (day int, ok bool)
	notation   notation // of numbers
	malformed  MalformedCheck
	files      []string // records whose rows are encoded
	line       int      // of the file, from 1 on, of the row being encoded
	rows       *Rows    // where records are stored; nil before there is room
	precision  Precision
	width      int      // columns of the table
	stride     int      // numbers of a record, with room for derived ones
	limit      int      // records that fit in memory; 0 is no limit
	packing    *Packing // of a table of at least packFrom bytes; nil: none
	packFrom   int64
	spare      int // columns for derived ones
	share      Share
	dealt      uint64        // digest of the blocks that were dealt to shares
	place      storage.Place // of the table
}

// column is one raw column that at least one field reads.
type column struct {
	name    string
	numeric bool   // some field wants its number
	whole   bool   // that number must be whole
	symbol  []byte // before or after numbers
	date    bool   // the number is a day, counted from origin
	origin  int
	levels  *levelSet // when some field wants its level
	tokens  bool      // some field wants its tokens
	lists   bool      // every such field wants lists of them
	missing tokens    // of its cells
	fields  []field   // missing indicators last
	coded   int       // its place in Codes.Columns, -1 for none
	check   ColumnCheck
	places  []cellPlace // of the first cells that do not fit
}

// field is a encoding.Field with its constants resolved.
type field struct {
	encoding.Field
	lower, upper, scale float64
	transform           func(float64) float64
	noted               int     // the byte of a number's code
	imputed             float64 // encoded
	tokenizer           *encoding.Tokenizer
}

// newEncoder groups the fields of e by raw column, in order of first use.
func newEncoder(e encoding.Encoding, opt Options) (*encoder, error) {
	units, err := newUnits(e, opt.Selection)
	if err != nil {
		return nil, err
	}
	enc := &encoder{units: units, beside: e.Beside, precision: opt.Precision, width: e.Width(), share: opt.Share, place: opt.Place, row: make([]float64, e.K), valid: true, sound: true, notation: notationOf(e), parseDay: e.ParseDay}
	number := 8
	if opt.Precision == Float32 {
		number = 4
	}
	enc.stride, enc.spare = padded(enc.width+opt.Spare, number), opt.Spare
	if opt.PackFrom > 0 && opt.Precision == Float32 && enc.width > 0 {
		enc.packing, enc.packFrom = packingOf(e, opt.Spare), opt.PackFrom
	}
	if record := int64(enc.stride * number); opt.MaxMemory > 0 && record > 0 && opt.Place.Folder == nil {
		enc.limit = int(max(1, opt.MaxMemory/record))
	}
	enc.tokens = enc.tokensOf(e.MissingTokens)
	at := map[string]int{}
	for _, f := range e.Fields {
		i, seen := at[f.Column]
		if !seen {
			i = len(enc.columns)
			at[f.Column] = i
			missing := enc.tokensOf(slices.Concat(e.MissingTokens, f.MissingTokens))
			enc.columns = append(enc.columns, column{name: f.Column, missing: missing, coded: -1, check: ColumnCheck{Column: f.Column}})
		}
		c := &enc.columns[i]
		switch f.Kind {
		case encoding.Numeric, encoding.Quantile:
			c.numeric, c.date, c.origin = true, f.Type == data.Date, f.Origin
			c.whole, c.symbol = f.Type == data.Integer, []byte(f.Symbol)
		case encoding.LevelCode, encoding.OneHot:
			c.levels = newLevelSet(f.Levels, f.Spelled)
			if f.Open {
				c.levels.open = &textCodes{codes: map[string]int{}}
			}
		case encoding.Tokens:
			c.lists = f.Listed > 0 && (c.lists || !c.tokens)
			c.tokens = true
		}
		if f.Kind == encoding.MissingIndicator {
			c.fields = append(c.fields, resolve(f))
		} else {
			c.fields = slices.Insert(c.fields, 0, resolve(f))
		}
	}
	if opt.Codes {
		enc.keepCodes(newCodes(e), at)
	}
	return enc, nil
}

// resolve fills in the defaults and encodes the imputed constant.
func resolve(f encoding.Field) field {
	r := field{Field: f, lower: math.Inf(-1), upper: math.Inf(1), scale: f.Unit()}
	if f.Lower != nil {
		r.lower = *f.Lower
	}
	if f.Upper != nil {
		r.upper = *f.Upper
	}
	if t := data.TransformNamed(f.Transform); t != nil {
		r.transform = t.Apply
	}
	if f.Kind == encoding.Tokens {
		r.tokenizer = encoding.NewTokenizer(&f)
	}
	if f.Missing == encoding.MissingImpute {
		r.imputed = f.Impute
		if f.Kind == encoding.Numeric {
			r.imputed = r.encode(f.Impute)
		}
	}
	return r
}

// encode transforms and scales a number within its bounds. No result is -0, which a packed table
// would not tell from 0: whether a table is packed depends on how many records it has.
func (f *field) encode(x float64) float64 {
	if f.transform != nil {
		x = f.transform(x)
	}
	x = (x-f.Center)/f.scale + 0
	if f.Kind == encoding.Quantile {
		return encoding.NormalQuantile(x)
	}
	return x
}

// reject makes the current row invalid.
func (e *encoder) reject() { e.valid = false }

// end stores the row. It stores an invalid record as zeros, so that no code can use its
// numbers by mistake. The only error is errFull.
func (e *encoder) end() (err error) {
	switch {
	case e.units != nil:
		err = e.add()
	case e.valid || e.codes != nil:
		err = e.store(e.row, e.valid)
	default:
		err = e.store(nil, false)
	}
	e.valid, e.sound = true, true
	e.line++
	return err
}

// errFull: the table does not fit in memory; tooLarge has the message.
var errFull = errors.New("records: table too large")

// store appends a record; columns beyond row are zero.
func (e *encoder) store(row []float64, valid bool) error {
	if e.limit > 0 && e.rows.N >= e.limit {
		return errFull
	}
	if err := e.rows.push(row, valid); err != nil {
		return err
	}
	if e.units == nil {
		e.rows.setCodes(e.rows.N-1, 0, e.noted, e.state())
	}
	return nil
}

// check returns the data check.
func (e *encoder) check(file string) Check {
	c := Check{File: file, Records: e.rows.N}
	if e.units != nil {
		c.Units = e.units.check
	}
	if e.malformed.Rows > 0 {
		c.Malformed = &e.malformed
	}
	for _, ok := range e.rows.Valid {
		if !ok {
			c.Rejected++
		}
	}
	for i := range e.columns {
		column := &e.columns[i]
		c.Columns = append(c.Columns, column.check)
		for _, p := range column.places {
			c.Columns[i].Lines = append(c.Columns[i].Lines, fmt.Sprintf("%s:%d", e.files[p.file], p.line))
		}
	}
	return c
}
