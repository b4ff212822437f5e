package gpu

import (
	"slices"
	"unsafe"

	"d3p/internal/privacy"
)

// memory is the device memory of one worker, within a limit.
type memory struct {
	driver      driver
	limit, used int64
	blocks      []address
	host        []unsafe.Pointer
}

// leastBlock is the least that is asked of a driver, in bytes.
const leastBlock = 16

// alloc takes memory of the device; errNoMemory when the limit is reached.
func (m *memory) alloc(bytes int64) (address, error) {
	bytes = max(bytes, leastBlock)
	if m.used+bytes > m.limit {
		return 0, errNoMemory
	}
	at, err := m.driver.alloc(bytes)
	if err != nil {
		return 0, err
	}
	m.used += bytes
	m.blocks = append(m.blocks, at)
	return at, nil
}

// release gives one block of memory back.
func (m *memory) release(at address, bytes int64) error {
	m.used -= max(bytes, leastBlock)
	m.blocks = slices.DeleteFunc(m.blocks, func(b address) bool { return b == at })
	return m.driver.release(at)
}

// shared takes memory of the host.
func (m *memory) shared(bytes int64) (unsafe.Pointer, error) {
	p, err := m.driver.shared(max(bytes, leastBlock))
	if err == nil {
		m.host = append(m.host, p)
	}
	return p, err
}

// releaseShared gives one block of the host's memory back.
func (m *memory) releaseShared(p unsafe.Pointer) {
	m.host = slices.DeleteFunc(m.host, func(b unsafe.Pointer) bool { return b == p })
	m.driver.releaseShared(p)
}

func (m *memory) releaseAll() error {
	var first error // after an error of the device each call has the same
	for _, at := range m.blocks {
		if err := m.driver.release(at); first == nil {
			first = err
		}
	}
	for _, p := range m.host {
		m.driver.releaseShared(p)
	}
	*m = memory{driver: m.driver, limit: m.limit}
	return first
}

// store copies x to fresh memory of the device.
func store[T any](m *memory, x []T) (address, error) {
	bytes := int64(len(x)) * int64(unsafe.Sizeof(*new(T)))
	at, err := m.alloc(bytes)
	if err != nil || len(x) == 0 {
		return at, err
	}
	if err := m.driver.upload(at, unsafe.Pointer(&x[0]), bytes); err != nil {
		return at, err
	}
	return at, m.driver.wait() // x may change
}

// send stores a program on the device and points arguments at it.
func (p *program) send(m *memory, a *arguments) (err error) {
	keep := func(at address, e error) address {
		if err == nil {
			err = e
		}
		return at
	}
	a.constants = keep(store(m, p.constants))
	indices := append(slices.Clone(p.indices), 0)[:(len(p.indices)+1)/2*2] // blocks copy pairs
	a.indices, a.indexCount = keep(store(m, indices)), int32(len(indices))
	a.global, a.globalCount = keep(store(m, p.global)), int32(len(p.global))
	a.record, a.recordCount = keep(store(m, p.record)), int32(len(p.record))
	a.columns, a.columnCount = keep(store(m, p.columns)), int32(len(p.columns))
	a.dots, a.dotCount, a.longDots = keep(store(m, p.dots)), int32(len(p.dots)), int32(p.longDots)
	a.terms, a.termCount = keep(store(m, p.terms)), int32(len(p.terms))
	a.pairs, a.pairCount = keep(store(m, p.pairs)), int32(len(p.pairs))
	a.globals = keep(m.alloc(8 * int64(p.globals)))
	a.slack, a.longest = privacy.NormSlack(p.tape), int32(p.longest())
	a.parameterCount, a.noiseCount = int32(p.tape.P), int32(p.tape.AuxRecord)
	a.lanesPerRecord = int32(p.lanesPerRecord())
	if p.isPartition() {
		a.partition = 1
	}
	a.dotLanes = int32(p.lanes.count)
	a.factorLanes = int32(p.lanes.count + len(p.dots))
	return err
}

// leastMemory is the least memory of a model with rows of the given size, for any number
// of records: see worker.openTable.
func (p *program) leastMemory(row int64) int64 {
	fixed := int64(8*len(p.constants) + 4*len(p.indices) + 96*(len(p.global)+len(p.record)) + 16*(len(p.columns)+len(p.dots)) +
		64*len(p.terms) + 32*len(p.pairs) + 8*(p.globals+2*p.tape.P+p.tape.AuxGlobal) + keyCount*keyBytes)
	fixed += 20 * leastBlock // of blocks that are smaller
	fixed += int64(p.unit()) * (placeBytes + row + 1)
	return fixed + p.slotReserve()
}
