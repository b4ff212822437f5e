package sampler

// Dealt has, of the batches of s, the records low to high-1, numbered from 0: the part of a
// process that holds these. Every process draws the same batches of all records.
func Dealt(s Sampler, low, high int) Sampler { return dealt{s, uint32(low), uint32(high)} }

type dealt struct {
	Sampler
	low, high uint32
}

func (d dealt) Draw(t int, dst []uint32) ([]uint32, bool) {
	batch, all := d.Sampler.Draw(t, dst)
	own := batch[:0]
	for _, i := range batch {
		if d.low <= i && i < d.high {
			own = append(own, i-d.low)
		}
	}
	return own, all
}

// Network is nil: it would draw the records of all.
func (dealt) Network() *Network { return nil }
