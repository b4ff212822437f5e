package parquet

// Kind is the kind of a column's cells.
type Kind uint8

// The kinds of columns.
const (
	Other   Kind = iota // nested, times of day and others: not read
	Nothing             // missing cells alone
	Int                 // Cells.Ints
	Uint                // Cells.Ints, whose bits are those of a uint64
	Float               // Cells.Floats
	Decimal             // Cells.Floats, rounded
	Bool                // Cells.Ints, 0 and 1
	Day                 // Cells.Ints, from 1970-01-01: dates, and times of day behind them left out
	Text                // Cells.Text, any bytes
	List                // Cells.List: lists of whole numbers, also if stored as floats
	Words               // Cells.Text: lists of texts, with a space between two; missing ones are left out
	Empties             // Cells.List: lists without any number, as programs write a column of empty lists
)

// Column is a column of a file.
type Column struct {
	Name string
	Kind Kind
	Type string // in words

	element  element
	leaf     int // its place among the leaves; of a nested one, the place of its first leaf
	optional bool
	levels   listLevels // of a list
}

// The physical types.
const (
	physicalBool   = 0
	physicalInt32  = 1
	physicalInt64  = 2
	physicalInt96  = 3
	physicalFloat  = 4
	physicalDouble = 5
	physicalBytes  = 6
	physicalFixed  = 7
)

// The logical types, and the older converted types, that matter.
const (
	logicalString, logicalEnum, logicalDecimal, logicalDate = 1, 4, 5, 6
	logicalTime, logicalTimestamp, logicalInteger           = 7, 8, 10
	logicalUnknown, logicalJSON, logicalBSON, logicalUUID   = 11, 12, 13, 14

	convertedDecimal, convertedDate                    = 5, 6
	convertedTimeMillis, convertedTimeMicros           = 7, 8
	convertedTimestampMillis, convertedTimestampMicros = 9, 10
	convertedUint8, convertedUint64, convertedInterval = 11, 14, 21
)

// columns returns the columns of a schema, which lists the nodes of a tree in depth first
// order from its root on.
func columns(schema []element) []Column {
	if len(schema) == 0 {
		panic(errDamaged)
	}
	var all []Column
	at, leaf := 1, 0
	for range schema[0].children {
		if at >= len(schema) {
			panic(errDamaged)
		}
		e := schema[at]
		c := Column{Name: e.name, Type: "nested", element: e, leaf: leaf, optional: e.repetition == 1}
		if e.children == 0 {
			c.Kind, c.Type = e.kind()
			if e.repetition == 2 {
				c.Kind, c.Type = Other, "repeated"
			}
		}
		first := at
		for pending := int64(1); pending > 0; at++ {
			if at >= len(schema) || schema[at].children < 0 || schema[at].children > int64(len(schema)) {
				panic(errDamaged)
			}
			pending += schema[at].children - 1
			if schema[at].children == 0 {
				leaf++
			}
		}
		c.list(schema[first:at])
		all = append(all, c)
	}
	return all
}

// kind is the kind of a leaf's cells.
func (e element) kind() (Kind, string) {
	if e.logical.kind == logicalUnknown {
		return Nothing, "null"
	}
	if e.decimal() {
		switch e.physical {
		case physicalInt32, physicalInt64, physicalBytes, physicalFixed:
			return Decimal, "decimal"
		}
		return Other, "unknown"
	}
	switch e.physical {
	case physicalBool:
		return Bool, "bool"
	case physicalInt32, physicalInt64:
		switch l := e.logical.kind; {
		case l == logicalDate, l == 0 && e.converted == convertedDate:
			return Day, "date"
		case e.perDay() > 0:
			return Day, "timestamp"
		case l == logicalTime, l == 0 && (e.converted == convertedTimeMillis || e.converted == convertedTimeMicros):
			return Other, "time of day"
		case e.unsigned():
			return Uint, "unsigned integer"
		}
		return Int, "integer"
	case physicalInt96:
		return Day, "timestamp"
	case physicalFloat, physicalDouble:
		return Float, "float"
	case physicalBytes:
		return Text, "text"
	case physicalFixed:
		if e.uuid() {
			return Text, "UUID"
		}
		return Other, "bytes of fixed length"
	}
	return Other, "unknown"
}

// uuid reports whether cells are UUIDs, which are read as texts.
func (e element) uuid() bool {
	return e.physical == physicalFixed && e.logical.kind == logicalUUID && e.length == 16
}

func (e element) decimal() bool {
	return e.logical.kind == logicalDecimal || e.logical.kind == 0 && e.converted == convertedDecimal
}

func (e element) unsigned() bool {
	return e.logical.kind == logicalInteger && e.logical.unsigned ||
		e.logical.kind == 0 && e.converted >= convertedUint8 && e.converted <= convertedUint64
}

// decimals is the number of decimal places of a decimal.
func (e element) decimals() int64 {
	if e.logical.kind == logicalDecimal {
		return e.logical.scale
	}
	return e.scale
}

// perDay is the number of units of a timestamp in a day; 0 for other types.
func (e element) perDay() int64 {
	const day = 24 * 60 * 60
	switch {
	case e.logical.kind == logicalTimestamp && e.logical.unit >= 1 && e.logical.unit <= 3:
		return day * [...]int64{1e3, 1e6, 1e9}[e.logical.unit-1]
	case e.logical.kind == 0 && e.converted == convertedTimestampMillis:
		return day * 1e3
	case e.logical.kind == 0 && e.converted == convertedTimestampMicros:
		return day * 1e6
	}
	return 0
}
