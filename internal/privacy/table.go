package privacy

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"

	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/internal/records/storage"
	"d3p/internal/privacy/noise"
)

// TableConfig has the places of the records and their encoding.
type TableConfig struct {
	// Data is a CSV, Parquet, idx, npy or CIFAR-10 file, a folder of them, a pattern or @LIST.
	Data      string
	Encoding  encoding.Encoding
	Precision Precision
	// Spare is the number of columns to keep free for the tape's derived ones,
	// so that the table need not be copied later.
	Spare int
	// MaxMemory bounds the encoded table in bytes; 0 is the machine's memory.
	MaxMemory int64
	// Scratch is the folder for a table on disk, in a file without a name; nil: it is in
	// memory. It is in memory, too, if it needs at most InMemory bytes there.
	Scratch  *os.Root
	InMemory int64
	// PackFrom is the size in bytes from which a float32 table stores each level in a byte;
	// 0: never.
	PackFrom int64
	// Root chooses the rows of units that have too many.
	Root noise.Root
	// Rank and Of are the part of the records that this process holds; 0 and 0: all.
	Rank, Of int
}

// Table is the records of one data set. Several curators, such as replicates of a fit, may
// hold it at a time, each with its own budget. Only a curator gets anything from it.
type Table struct {
	cfg   TableConfig
	once  sync.Once
	rows  *Rows
	check records.Check
	files digest
	err   error

	mu       sync.Mutex
	derived  *graph.Tape // the rows have its derived columns
	sessions int         // open ones, which read the rows
}

// NewTable returns the table of cfg. The first curator that gets it reads it.
func NewTable(cfg TableConfig) *Table {
	if cfg.MaxMemory == 0 {
		cfg.MaxMemory = physicalMemory()
	}
	return &Table{cfg: cfg}
}

// read reads and encodes the records, once. The check is private, also when err
// is not nil.
func (t *Table) read() (*Rows, records.Check, error) {
	t.once.Do(func() {
		t.rows, t.check, t.files, t.err = t.cfg.read(t.cfg.Encoding, t.cfg.options())
	})
	return t.rows, t.check, t.err
}

// RecordBytes is the size of each of n records in a float32 table in memory.
func (cfg TableConfig) RecordBytes(n int) int {
	return records.RecordBytes(cfg.Encoding, cfg.Spare, n, cfg.PackFrom)
}

// options are the options of reading the records.
func (cfg TableConfig) options() records.Options {
	return records.Options{
		Precision: cfg.Precision, Spare: cfg.Spare, MaxMemory: cfg.MaxMemory,
		Place:     storage.Place{Folder: cfg.Scratch, InMemory: cfg.InMemory},
		Selection: cfg.Root.Stream(noise.RowSelection), PackFrom: cfg.PackFrom,
	}
}

// read reads the share of the records that is this process's.
func (cfg TableConfig) read(e encoding.Encoding, opt records.Options) (*Rows, records.Check, digest, error) {
	files, err := records.Files(cfg.Data)
	if err != nil {
		return nil, records.Check{File: cfg.Data}, digest{}, err
	}
	opt.Share = records.Share{Rank: cfg.Rank, Of: cfg.Of}
	var rows *Rows
	var check records.Check
	of, err := unchanged(files, cfg.Of, func() (err error) {
		rows, check, err = records.Read(cfg.Data, files, e, opt)
		return err
	})
	if err == nil && cfg.Of > 1 {
		of = of.with(rows.Dealt)
	}
	return rows, check, of, err
}

// begin readies the rows, read before, for a session that runs a tape. Its
// derived columns are filled unless they are there; while other sessions read
// the rows they have to be.
func (t *Table) begin(tape *graph.Tape) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.derived == nil || t.derived != tape && !reflect.DeepEqual(t.derived, tape) {
		if t.sessions > 0 {
			return errors.New("privacy: sessions that share a table run the same tape (give each its own table)")
		}
		t.derived = nil
		if err := DeriveColumns(tape, t.rows, t.cfg.Encoding.Width()); err != nil {
			return err
		}
		t.derived = tape
	}
	t.sessions++
	return nil
}

// count is the number of records. Another session may be deriving columns.
func (t *Table) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows.N
}

// end notes that a session no longer reads the rows.
func (t *Table) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessions--
}

// Format prints a fixed text for every verb: no log may show a record.
func (t *Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Table(secret)") }
