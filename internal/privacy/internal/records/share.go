package records

// Share is the part of the records that one of several processes reads: rank of them. The
// zero Share is all records.
//
// Rows without ids are dealt in blocks of the file or in whole files, so a process reads
// little of the other shares. The rows of one unit may lie anywhere, so every process reads
// all ids and takes the units that a hash of the id gives it.
type Share struct{ Rank, Of int }

// all reports whether the share is all records.
func (s Share) all() bool { return s.Of <= 1 }

// has reports whether the i-th block of rows is of the share.
func (s Share) has(i int) bool { return s.all() || i%s.Of == s.Rank }

// hasUnit reports whether the unit with an id is of the share.
func (s Share) hasUnit(id []byte) bool {
	if s.all() {
		return true
	}
	h := idHash(id)
	return (h^h>>32)%uint64(s.Of) == uint64(s.Rank)
}

// idHash is the hash FNV-1a of an id.
func idHash(id []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range id {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// of is about the number of rows of the share among n.
func (s Share) of(n int) int {
	if s.all() {
		return n
	}
	return (n + s.Of - 1) / s.Of
}

// before is the number of the share's rows among the first n, which come in blocks of some
// size.
func (s Share) before(n int64, block int) int {
	if s.all() {
		return int(n)
	}
	size := int64(block)
	round := size * int64(s.Of)
	return int(n/round*size + min(max(n%round-int64(s.Rank)*size, 0), size))
}

// block is the size, at most most, of blocks that divide something of size n evenly.
func (s Share) block(n int64, most int) int {
	const each, least = 16, 1 << 10
	if s.all() {
		return most
	}
	return int(min(int64(most), max(least, n/int64(each*s.Of))))
}

// deal notes the size of a block that is dealt to one of the shares, in the order of the files.
func (e *encoder) deal(size int) {
	if !e.share.all() && e.units == nil {
		e.dealt = (e.dealt ^ uint64(size)) * 1099511628211
	}
}

// ofFiles are the files with records of the share; the process does not read the others. It
// is all files if a process would otherwise have no work, or if units may lie in several
// files.
func (s *Share) ofFiles(paths []string, e *encoder) []string {
	if s.all() || e.units != nil || len(paths) < s.Of {
		return paths
	}
	var own []string
	for i, path := range paths {
		if s.has(i) {
			own = append(own, path)
		}
	}
	*s = Share{}
	e.share = *s
	return own
}
