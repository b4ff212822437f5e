package privacy

import (
	"io"

	"d3p/internal/models"
	"d3p/internal/privacy/internal/records"
)

// NewRecords are records that the caller may see: their own, brought to a
// released model for prediction. They are not the private table of a Curator,
// and nothing computed from them is protected.
type NewRecords struct {
	rows  *Rows
	check records.Check
}

// ReadNew reads and encodes new records, usually with Encoding.Predictors.
// Errors are those of NewCurator.
func ReadNew(path string, e models.Encoding) (*NewRecords, error) {
	rows, check, err := records.Read(path, e, records.Options{})
	if err != nil {
		return nil, err
	}
	return &NewRecords{rows: rows, check: check}, nil
}

// N is the number of records.
func (r *NewRecords) N() int { return r.rows.N }

// K is the number of encoded columns.
func (r *NewRecords) K() int { return r.rows.K }

// Rows returns the encoded records, N×K row-major, in the order of the file.
func (r *NewRecords) Rows() []float64 { return r.rows.F64 }

// Valid says of each record whether it could be encoded; an invalid one is all
// zeros.
func (r *NewRecords) Valid() []bool { return r.rows.Valid }

// WriteCheck writes what the declared rules did, as JSON.
func (r *NewRecords) WriteCheck(w io.Writer) error { return r.check.Write(w) }
