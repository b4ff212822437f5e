package sampler

import "testing"

// A fit that goes on with other random numbers, wherever it stopped, puts no record
// in two batches of one epoch, which is what an epoch's accounting allows; later
// epochs have every record again.
func TestTornEpochsRepeatNoRecord(t *testing.T) {
	const n, batches, epochs = 40, 5, 3
	for _, scheme := range []string{"balls_and_bins", "shuffle"} {
		cfg := Config{Scheme: scheme, Rate: 1. / batches, PublicN: n}
		for stop := range batches * epochs {
			before := open(t, cfg, n, 1)
			after, err := New(cfg, n, stop, stream(2))
			if err != nil {
				t.Fatal(err)
			}
			for epoch := range epochs {
				drawn := 0
				seen := [n]int{}
				for b := range batches {
					s, step := after, epoch*batches+b
					if step < stop {
						s = before
					}
					for _, i := range members(t, s, step, n) {
						if seen[i]++; seen[i] > 1 {
							t.Fatalf("%s, stopped before step %d: record %d is in two batches of epoch %d", scheme, stop, i, epoch)
						}
						drawn++
					}
				}
				if torn := epoch == stop/batches && stop%batches > 0; !torn && drawn != n {
					t.Errorf("%s, stopped before step %d: epoch %d has %d of %d records", scheme, stop, epoch, drawn, n)
				}
			}
		}
	}
}
