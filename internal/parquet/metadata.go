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
	t.fields(fields{
		2: t.structsTo(func() fields {
			m.schema = append(m.schema, element{physical: -1, length: -1, repetition: -1, converted: -1})
			return t.element(&m.schema[len(m.schema)-1])
		}),
		3: t.intTo(&m.rows),
		4: t.structsTo(func() fields {
			m.groups = append(m.groups, rowGroup{})
			return t.rowGroup(&m.groups[len(m.groups)-1])
		}),
		8: isThere(&m.encrypted),
	})
	return m
}

func (t *thrift) element(e *element) fields {
	return fields{
		1: t.intTo(&e.physical), 2: t.intTo(&e.length), 3: t.intTo(&e.repetition), 4: t.textTo(&e.name),
		5: t.intTo(&e.children), 6: t.intTo(&e.converted), 7: t.intTo(&e.scale), 10: t.unionTo(&e.logical.kind, t.logical(&e.logical)),
	}
}

// logical are the fields of each logical type, by its number, that have some.
func (t *thrift) logical(l *logicalType) []fields {
	return []fields{
		logicalDecimal:   {1: t.intTo(&l.scale)},
		logicalTimestamp: {2: t.unionTo(&l.unit, nil)},
		logicalInteger:   {2: t.notTo(&l.unsigned)},
	}
}

func (t *thrift) rowGroup(g *rowGroup) fields {
	return fields{
		1: t.structsTo(func() fields {
			g.columns = append(g.columns, chunk{physical: -1, codec: -1})
			return t.chunk(&g.columns[len(g.columns)-1])
		}),
		3: t.intTo(&g.rows),
	}
}

func (t *thrift) chunk(c *chunk) fields {
	return fields{
		1: isThere(&c.elsewhere),
		3: t.structTo(fields{
			1: t.intTo(&c.physical), 4: t.intTo(&c.codec), 5: t.intTo(&c.values), 7: t.intTo(&c.compressed),
			9: t.intTo(&c.data), 11: t.intTo(&c.dictionary),
		}),
		8: isThere(&c.encrypted),
	}
}

// readPageHeader returns the header that b starts with, and its length.
func readPageHeader(b []byte) (pageHeader, int) {
	var h pageHeader
	t := &thrift{b: b}
	values := t.structTo(fields{1: t.intTo(&h.values), 2: t.intTo(&h.encoding), 3: t.intTo(&h.levels), 4: t.intTo(&h.repetition)})
	t.fields(fields{
		1: t.intTo(&h.kind), 2: t.intTo(&h.size), 3: t.intTo(&h.compressed),
		5: values, // of data, version 1
		7: values, // of a dictionary
		8: t.structTo(fields{ // of data, version 2
			1: t.intTo(&h.values), 4: t.intTo(&h.encoding), 5: t.intTo(&h.levelBytes), 6: t.intTo(&h.repeats), 7: t.notTo(&h.plain),
		}),
	})
	return h, t.at
}
