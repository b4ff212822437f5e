package gpu

import "unsafe"

// A box is what one call of Steps sends and gets back: a piece of the device's
// memory and one of the host's of the same layout, so that each way is one copy.
// First what is only sent; from `back` on, status and state go both ways, and what
// is kept, from `sent` on, only comes back.
type box struct {
	at               block
	host             unsafe.Pointer
	bytes            int64 // of the host's piece
	used, back, sent int64
}

// A part of a box is n values from a place on.
type boxPart[T any] struct {
	place int64
	n     int
}

// reserve adds room for n values to the layout of a box.
func reserve[T any](b *box, n int) boxPart[T] {
	p := boxPart[T]{b.used, n}
	b.used += (int64(n)*int64(unsafe.Sizeof(*new(T))) + 15) &^ 15
	return p
}

// in is the part in the host's piece of a box.
func (p boxPart[T]) in(b *box) []T { return unsafe.Slice((*T)(unsafe.Add(b.host, p.place)), p.n) }

// on is the part's address on the device.
func (p boxPart[T]) on(b *box) address { return b.at.at + address(p.place) }

// grow makes both pieces as large as the layout, or somewhat larger: memory of the
// host that a device reads takes long to get, and batches vary.
func (b *box) grow(w *worker) error {
	if b.used <= b.bytes {
		return nil
	}
	size := b.used + b.used/8
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

// fetch copies back what the device changes, from one place to another, as soon as
// it is done with what it was asked for.
func (b *box) fetch(d driver, from, to int64) error {
	return d.download(unsafe.Add(b.host, from), b.at.at+address(from), to-from)
}

// forget overwrites on the host what was sent: it has random words.
func (b *box) forget() { clear(unsafe.Slice((*byte)(b.host), b.back)) }
