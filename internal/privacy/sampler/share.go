package sampler

// OfShare returns the sampler of the process that holds the records low to high-1. Every
// process draws the same batches of all records by s, and keeps its own records, numbered
// from 0.
func OfShare(s Sampler, low, high int) Sampler { return share{s, uint32(low), uint32(high)} }

type share struct {
	Sampler
	low, high uint32
}

func (d share) Draw(t int, dst []uint32) ([]uint32, bool) {
	batch, all := d.Sampler.Draw(t, dst)
	own := batch[:0]
	for _, i := range batch {
		if d.low <= i && i < d.high {
			own = append(own, i-d.low)
		}
	}
	return own, all
}

// Network returns nil: a network would draw the records of all processes.
func (share) Network() *Network { return nil }
