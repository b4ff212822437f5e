package parquet

// The structs of parquet.thrift that this package reads:
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift

// metadata is FileMetaData.
type metadata struct {
	schema    []element
	rows      int64
	groups    []rowGroup
	encrypted bool
}

// element is SchemaElement; numbers that are not stated are -1.
type element struct {
	physical, length, repetition, children, converted, scale int64
	name                                                     string
	logical                                                  logicalType
}

// logicalType is LogicalType: the union's field that is set; 0 if none is.
type logicalType struct {
	kind     int
	scale    int64 // of a decimal
	unit     int   // of a timestamp: 1 milliseconds, 2 microseconds, 3 nanoseconds
	bits     byte  // of an integer, as is
	unsigned bool
}

type rowGroup struct {
	columns []chunk
	rows    int64
}

// chunk is ColumnChunk with its ColumnMetaData.
type chunk struct {
	elsewhere, encrypted                bool
	physical, codec, values, compressed int64
	data, dictionary                    int64 // offsets in the file; dictionary 0: none
}

// pageHeader is PageHeader with the header of its type.
type pageHeader struct {
	kind, size, compressed int64 // bytes
	values, encoding       int64
	levels, repetition     int64 // the encodings of both levels, of a data page of version 1
	levelBytes, repeats    int64 // of a data page of version 2
	plain                  bool  // likewise: the values are not compressed
}

func readMetadata(b []byte) metadata {
	var m metadata
	t := &thrift{b: b}
	t.fields(func(id int, kind byte) bool {
		switch id {
		case 2:
			return t.structsTo(func() func(int, byte) bool {
				m.schema = append(m.schema, element{physical: -1, length: -1, repetition: -1, converted: -1})
				return t.element(&m.schema[len(m.schema)-1])
			}, kind)
		case 3:
			return t.intTo(&m.rows, kind)
		case 4:
			return t.structsTo(func() func(int, byte) bool {
				m.groups = append(m.groups, rowGroup{})
				return t.rowGroup(&m.groups[len(m.groups)-1])
			}, kind)
		case 8:
			m.encrypted = true
		}
		return false
	})
	return m
}

func (t *thrift) element(e *element) func(id int, kind byte) bool {
	return func(id int, kind byte) bool {
		switch id {
		case 1:
			return t.intTo(&e.physical, kind)
		case 2:
			return t.intTo(&e.length, kind)
		case 3:
			return t.intTo(&e.repetition, kind)
		case 4:
			return t.textTo(&e.name, kind)
		case 5:
			return t.intTo(&e.children, kind)
		case 6:
			return t.intTo(&e.converted, kind)
		case 7:
			return t.intTo(&e.scale, kind)
		case 10:
			return t.structTo(t.logical(&e.logical), kind)
		}
		return false
	}
}

func (t *thrift) logical(l *logicalType) func(id int, kind byte) bool {
	return func(id int, kind byte) bool {
		l.kind = id
		return t.structTo(func(id int, kind byte) bool {
			switch {
			case l.kind == logicalDecimal && id == 1:
				return t.intTo(&l.scale, kind)
			case l.kind == logicalTimestamp && id == 2:
				return t.structTo(func(id int, _ byte) bool { l.unit = id; return false }, kind)
			case l.kind == logicalInteger && id == 1 && kind == thriftByte:
				l.bits = t.byte()
				return true
			case l.kind == logicalInteger && id == 2:
				var signed bool
				ok := t.boolTo(&signed, kind)
				l.unsigned = !signed
				return ok
			}
			return false
		}, kind)
	}
}

func (t *thrift) rowGroup(g *rowGroup) func(id int, kind byte) bool {
	return func(id int, kind byte) bool {
		switch id {
		case 1:
			return t.structsTo(func() func(int, byte) bool {
				g.columns = append(g.columns, chunk{physical: -1, codec: -1})
				return t.chunk(&g.columns[len(g.columns)-1])
			}, kind)
		case 3:
			return t.intTo(&g.rows, kind)
		}
		return false
	}
}

func (t *thrift) chunk(c *chunk) func(id int, kind byte) bool {
	return func(id int, kind byte) bool {
		switch id {
		case 1:
			c.elsewhere = true
		case 3:
			return t.structTo(func(id int, kind byte) bool {
				switch id {
				case 1:
					return t.intTo(&c.physical, kind)
				case 4:
					return t.intTo(&c.codec, kind)
				case 5:
					return t.intTo(&c.values, kind)
				case 7:
					return t.intTo(&c.compressed, kind)
				case 9:
					return t.intTo(&c.data, kind)
				case 11:
					return t.intTo(&c.dictionary, kind)
				}
				return false
			}, kind)
		case 8:
			c.encrypted = true
		}
		return false
	}
}

// readPageHeader returns the header that b starts with, and its length.
func readPageHeader(b []byte) (pageHeader, int) {
	var h pageHeader
	t := &thrift{b: b}
	t.fields(func(id int, kind byte) bool {
		switch id {
		case 1:
			return t.intTo(&h.kind, kind)
		case 2:
			return t.intTo(&h.size, kind)
		case 3:
			return t.intTo(&h.compressed, kind)
		case 5, 7: // of data, version 1; of a dictionary
			return t.structTo(func(id int, kind byte) bool {
				switch id {
				case 1:
					return t.intTo(&h.values, kind)
				case 2:
					return t.intTo(&h.encoding, kind)
				case 3:
					return t.intTo(&h.levels, kind)
				case 4:
					return t.intTo(&h.repetition, kind)
				}
				return false
			}, kind)
		case 8: // of data, version 2
			return t.structTo(func(id int, kind byte) bool {
				switch id {
				case 1:
					return t.intTo(&h.values, kind)
				case 4:
					return t.intTo(&h.encoding, kind)
				case 5:
					return t.intTo(&h.levelBytes, kind)
				case 6:
					return t.intTo(&h.repeats, kind)
				case 7:
					var compressed bool
					ok := t.boolTo(&compressed, kind)
					h.plain = !compressed
					return ok
				}
				return false
			}, kind)
		}
		return false
	})
	return h, t.at
}
