package gpu

import (
	"cmp"
	"unsafe"

	"d3p/internal/privacy"
)

// A table is where the records are: on the device as a whole, or on the host,
// from where the rows of each part of a batch are copied.
type table struct {
	rows     *privacy.Rows
	row      int64 // bytes of one row
	resident bool
	numbers  address // of all rows, or of a part's
	valid    address
}

// A part is the piece of a batch that one launch sends to the device, in shared memory.
type part struct {
	records  int      // at most
	places   []uint32 // of the part's records in the table
	numbers  []byte   // their rows, if the table is on the host
	valid    []bool
	placesAt address
}

// placeBytes is the memory of a record's place in a part.
const placeBytes = 4

// openTable keeps the table on the device if there is room for it beside the
// slots, and makes room for parts.
func (w *worker) openTable() error {
	t, rows := &w.table, w.table.rows
	t.row = int64(rows.Stride) * rowWidth(rows)
	if rows.Precision() == privacy.Float32 {
		w.args.single = 1
	}
	w.args.stride = int64(rows.Stride)
	if err := w.sendSlots(rows); err != nil {
		return err
	}
	unit := w.p.unitOf(rows.N)
	most := int64(min(w.engine.mostPart/unit*unit, (rows.N+unit-1)/unit*unit))
	room := w.memory.limit - w.memory.used - w.p.slotReserve()
	whole := w.engine.residentBytes(t)
	if w.engine.keepsAll && whole+most*placeBytes <= room {
		r, err := w.engine.keep(rows, whole+2*leastBlock)
		if err != nil {
			return err
		}
		t.resident, t.numbers, t.valid = true, r.numbers, r.valid
		w.memory.limit -= whole
		w.part.records = int(most)
		return w.allocPart()
	}
	most = min(most, room/(placeBytes+t.row+1)/int64(unit)*int64(unit))
	if most < int64(min(unit, rows.N)) {
		return errNoMemory
	}
	w.part.records = int(most)
	return w.allocPart()
}

// sendSlots tells the device where the columns of packed records are.
func (w *worker) sendSlots(rows *privacy.Rows) (err error) {
	if rows.Packing == nil {
		return nil
	}
	slots := make([]slot, rows.K)
	var lists []float32
	for _, r := range rows.Packing.Runs(rows.K, func(int) bool { return true }) {
		for i, numbers := range r.Numbers {
			s := slot{at: int32(r.At + i*r.Size), size: int32(r.Size), list: -1}
			if numbers != nil {
				s.list = int32(len(lists))
				lists = append(lists, numbers...)
			}
			slots[r.First+i] = s
		}
	}
	if w.args.packed, err = store(&w.memory, slots); err != nil {
		return err
	}
	if len(lists) > 0 {
		w.args.lists, err = store(&w.memory, lists)
	}
	return err
}

// rowWidth is the size in bytes of a number of the table.
func rowWidth(rows *privacy.Rows) int64 {
	if rows.Precision() == privacy.Float32 {
		return 4
	}
	return 8
}

// allocPart makes room for a part on both sides.
func (w *worker) allocPart() (err error) {
	m, n, t := &w.memory, w.part.records, &w.table
	if t.resident {
		w.part.placesAt, w.part.places, err = room[uint32](m, n)
		return err
	}
	if t.numbers, w.part.numbers, err = room[byte](m, n*int(t.row)); err != nil {
		return err
	}
	t.valid, w.part.valid, err = room[bool](m, n)
	return err
}

// room takes memory for n values on the device and on the host.
func room[T any](m *memory, n int) (address, []T, error) {
	bytes := int64(n) * int64(unsafe.Sizeof(*new(T)))
	at, err := m.alloc(bytes)
	if err != nil {
		return 0, nil, err
	}
	p, err := m.shared(bytes)
	if err != nil {
		return 0, nil, err
	}
	return at, unsafe.Slice((*T)(p), n), nil
}

// sendPart points the arguments at n records of the batch from `first` on.
func (w *worker) sendPart(batch []uint32, first, n int, all bool) error {
	a, t, p := w.args, &w.table, &w.part
	d := w.engine.driver
	if first > 0 { // the last part's copies may be on their way
		if err := d.wait(); err != nil {
			return err
		}
	}
	a.first, a.size = int64(first), int64(n)
	a.batch, a.table, a.valid = 0, t.numbers, t.valid
	switch {
	case t.resident && all:
		a.table += address(int64(first) * t.row)
		a.valid += address(first)
	case t.resident:
		copy(p.places, batch[first:first+n])
		a.batch = p.placesAt
		return d.upload(a.batch, unsafe.Pointer(&p.places[0]), 4*int64(n))
	default:
		w.gather(batch, first, n, all)
		if err := d.upload(t.numbers, unsafe.Pointer(&p.numbers[0]), int64(n)*t.row); err != nil {
			return err
		}
		return d.upload(t.valid, unsafe.Pointer(&p.valid[0]), int64(n))
	}
	return nil
}

// gather copies the rows of a part.
func (w *worker) gather(batch []uint32, first, n int, all bool) {
	rows, to := w.table.rows, w.part.numbers
	for i := range n {
		record := first + i
		if !all {
			record = int(batch[first+i])
		}
		copy(to[int64(i)*w.table.row:], rowBytes(rows, record))
		w.part.valid[i] = rows.Valid[record]
	}
}

// rowBytes is the memory of one row.
func rowBytes(rows *privacy.Rows, record int) []byte {
	at := record * rows.Stride
	if rows.F32 != nil {
		return unsafe.Slice((*byte)(unsafe.Pointer(&rows.F32[at])), 4*rows.Stride)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&rows.F64[at])), 8*rows.Stride)
}

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
			return nil, cmp.Or(err, r.memory.releaseAll())
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
