package gpu

import "unsafe"

// A stagingBuffer is a piece of the device's memory and one of the host's of the same layout, so
// that one copy sends or fetches it.
type stagingBuffer struct {
	at    block
	host  unsafe.Pointer
	bytes int64 // of the host's piece
	used  int64
	sent  int64 // the first bytes of the layout, which send copies; the rest is the device's
}

// A part of a staging buffer is n values from a place on.
type bufferPart[T any] struct {
	place int64
	n     int
}

// reserve adds room for n values to the layout of a staging buffer.
func reserve[T any](b *stagingBuffer, n int) bufferPart[T] {
	p := bufferPart[T]{b.used, n}
	b.used += (int64(n)*int64(unsafe.Sizeof(*new(T))) + 15) &^ 15
	return p
}

// in is the part in the host's piece of a staging buffer.
func (p bufferPart[T]) in(b *stagingBuffer) []T {
	return unsafe.Slice((*T)(unsafe.Add(b.host, p.place)), p.n)
}

// on is the part's address on the device.
func (p bufferPart[T]) on(b *stagingBuffer) address { return b.at.at + address(p.place) }

// fits reports whether both pieces are as large as the layout.
func (b *stagingBuffer) fits() bool { return b.used <= min(b.bytes, b.at.bytes) }

// grow makes them so, and somewhat larger: memory of the host that a device reads
// takes long to get, and batches vary.
func (b *stagingBuffer) grow(w *worker) error {
	if b.fits() {
		return nil
	}
	size := max(b.used+b.used/8, leastBlock)
	if err := w.grow(&b.at.at, &b.at.bytes, size); err != nil {
		return err
	}
	if b.host != nil {
		w.memory.releaseShared(b.host)
		b.host, b.bytes = nil, 0
	}
	host, err := w.memory.shared(size)
	if err == nil {
		b.host, b.bytes = host, size
	}
	return err
}

// release gives both pieces back.
func (b *stagingBuffer) release(w *worker) error {
	if b.host != nil {
		w.memory.releaseShared(b.host)
	}
	at := b.at
	*b = stagingBuffer{}
	if at.bytes == 0 {
		return nil
	}
	return w.memory.release(at.at, at.bytes)
}

// send copies the layout to the device.
func (b *stagingBuffer) send(d driver) error {
	if b.sent == 0 {
		return nil
	}
	return d.upload(b.at.at, b.host, b.sent)
}

// fetch copies the layout back from the device, up to a place.
func (b *stagingBuffer) fetch(d driver, to int64) error { return d.download(b.host, b.at.at, to) }

// forget overwrites the sent bytes on the host, which have random words. After a failed
// allocation the memory may be smaller than the layout.
func (b *stagingBuffer) forget() { clear(unsafe.Slice((*byte)(b.host), min(b.used, b.bytes))) }
