package graph

// Together is how many records of a tape are worth working on at a time in a
// Machine: 256, or fewer where their values would take more than 64 MiB, as those
// of convolutional networks do.
func (t *Tape) Together() int {
	const most, numbers = 256, 8 << 20
	size := 1
	for _, b := range t.Buffers {
		if b.Kind == KRecord {
			size += b.Size
		}
	}
	return min(most, max(1, numbers/size))
}
