package sampler

import (
	"fmt"
	"math"
)

// epoch is the public length of an epoch: every record is in exactly one of
// its batches.
type epoch struct{ batches int }

// newEpoch cuts the declared records into 1/q batches, rounded.
func newEpoch(cfg Config) (epoch, error) {
	q, err := cfg.rate()
	if err != nil {
		return epoch{}, err
	}
	batches := math.Round(1 / q)
	if batches > math.MaxUint32 {
		return epoch{}, fmt.Errorf("sampler: rate %g makes epochs of %g batches: raise the rate", q, batches)
	}
	return epoch{int(batches)}, nil
}

// epochs returns the number of epochs that `steps` steps begin. A last, incomplete epoch
// counts in full: leaving out its rest is post-processing.
func (e epoch) epochs(steps int) int64 {
	return int64((steps + e.batches - 1) / e.batches)
}

// at returns the epoch of step t and the batch within it.
func (e epoch) at(t int) (number uint64, batch int) {
	return step(t) / uint64(e.batches), t % e.batches
}

// torn reports whether an epoch began before step first, with other random numbers. A
// record could then be in two of its batches, which no accounting of epochs allows; so
// the rest of its batches hold no record.
func (e epoch) torn(number uint64, first int) bool { return number*uint64(e.batches) < step(first) }

// step returns t as a stream's step.
func step(t int) uint64 {
	if t < 0 {
		panic("sampler: negative step")
	}
	return uint64(t)
}
