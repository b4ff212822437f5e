package gpu

import (
	"errors"

	"d3p/internal/privacy"
)

// A resident is a table on the device, which all workers that were opened on the
// same rows share: fits side by side keep one copy.
type resident struct {
	memory         memory
	numbers, valid address
	workers        int
}

// residentBytes is what keeping a table on the device takes: 0 if it is there.
func (e *Engine) residentBytes(t *table) int64 {
	if e.residents[t.rows] != nil {
		return 0
	}
	return int64(t.rows.N) * (t.row + 1)
}

// keep sends a table to the device, unless it is there, for one more worker.
func (e *Engine) keep(rows *privacy.Rows, limit int64) (*resident, error) {
	r := e.residents[rows]
	if r == nil {
		r = &resident{memory: memory{driver: e.driver, limit: limit}}
		var err error
		if rows.F32 != nil {
			r.numbers, err = store(&r.memory, rows.F32[:rows.N*rows.Stride])
		} else {
			r.numbers, err = store(&r.memory, rows.F64[:rows.N*rows.Stride])
		}
		if err == nil {
			r.valid, err = store(&r.memory, rows.Valid)
		}
		if err != nil {
			return nil, errors.Join(err, r.memory.releaseAll())
		}
		e.residents[rows] = r
	}
	r.workers++
	return r, nil
}

// letGo gives a table's memory back when its last worker is closed.
func (e *Engine) letGo(rows *privacy.Rows) error {
	r := e.residents[rows]
	if r.workers--; r.workers > 0 {
		return nil
	}
	delete(e.residents, rows)
	return r.memory.releaseAll()
}
