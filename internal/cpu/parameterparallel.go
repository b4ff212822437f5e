package cpu

import "slices"

// With many parameters one sum per shard costs more than it saves, because each sum is
// written, read and added. In this case each thread first computes one chunk up to the
// clipping factors. Then the threads add all these chunks to the one result, each for other
// parameters. Every parameter gets its chunks in order, so the number of threads changes no
// bit.

// portion is a part of the sum that one thread adds at a time. It is one range of
// parameters: the terms that share them, or some rows of a single term's product.
type portion struct {
	terms     []int
	cut       bool
	low, high int // rows, if the portion is a part of a term
	size      int
}

// portionSize is the largest number of elements of a portion that can be cut. stripe is the
// number of its rows that are cleared and summed over all chunks at a time, so that they
// stay in the cache. It is a multiple of the rows that simd.Product takes at once.
const portionSize, stripe = 128 << 10, 42

// span is a range of parameters.
type span struct{ from, to int }

// planPortions cuts the sum into portions.
func (p *program) planPortions() {
	p.zeroed = []span{{0, p.tape.P}}
	if p.tape.P <= largeP {
		return
	}
	group := make([]int, len(p.terms)) // the first of the terms that share its parameters
	for i := range group {
		group[i] = i
	}
	for _, pair := range p.tape.Cross {
		from, to := max(group[pair.I], group[pair.J]), min(group[pair.I], group[pair.J])
		for i, g := range group {
			if g == from {
				group[i] = to
			}
		}
	}
	for i := range p.terms {
		if group[i] != i {
			continue
		}
		whole := portion{}
		for j := i; j < len(group); j++ {
			if group[j] == i {
				whole.terms = append(whole.terms, j)
				whole.size += p.terms[j].Rows * p.terms[j].Cols
			}
		}
		t := &p.terms[i]
		if len(whole.terms) > 1 || !t.outerProduct() || !t.contiguous() {
			p.portions = append(p.portions, whole)
			continue
		}
		p.leave(span{t.Param, t.Param + whole.size})
		pieces := (whole.size + portionSize - 1) / portionSize
		for k := range pieces {
			part := whole
			part.cut, part.low, part.high = true, t.productRows()*k/pieces, t.productRows()*(k+1)/pieces
			part.size /= pieces
			p.portions = append(p.portions, part)
		}
	}
	slices.SortStableFunc(p.portions, func(a, b portion) int { return b.size - a.size })
}

// leave removes a range from those that are cleared before the sum.
func (p *program) leave(r span) {
	var rest []span
	for _, z := range p.zeroed {
		for _, part := range []span{{z.from, min(z.to, r.from)}, {max(z.from, r.to), z.to}} {
			if part.from < part.to {
				rest = append(rest, part)
			}
		}
	}
	p.zeroed = rest
}

// parameterParallelSum computes a chunk per thread at a time.
func (w *worker) parameterParallelSum() (count float64) {
	j := &w.job
	for j.done = 0; j.done < j.chunks; j.done += len(w.contexts) {
		j.together = min(len(w.contexts), j.chunks-j.done)
		if w.pool == nil || j.chunks == 1 {
			for k := range j.together {
				w.clipChunk(0, k)
			}
			for k := range w.p.portions {
				w.addPortion(0, k)
			}
		} else {
			w.pool.run(j.together, w.clipping)
			w.pool.run(len(w.p.portions), w.adding)
		}
		for k := range j.together {
			count += w.counts[k]
		}
	}
	return count
}

// clipChunk computes the k-th of the present chunks, in the k-th context, and prepares its
// sums.
func (w *worker) clipChunk(_, k int) {
	c := w.contexts[k]
	w.counts[k] = c.clipChunk(&w.job, w.job.done+k)
	c.weigh()
	for i := range c.p.terms {
		c.turn(&c.p.terms[i])
	}
}

// addPortion adds a portion of all present chunks, in order of the chunks.
func (w *worker) addPortion(thread, k int) {
	part := &w.p.portions[k]
	if part.cut {
		w.addStripes(thread, part)
		return
	}
	for i := range w.job.together {
		c := w.borrowed(thread, i)
		for _, k := range part.terms {
			t := &c.p.terms[k]
			c.sumTerm(w.job.dst, t, 0, t.productRows())
		}
	}
}

// addStripes adds a portion row by row.
func (w *worker) addStripes(thread int, part *portion) {
	t := &w.p.terms[part.terms[0]]
	row := t.Rows * t.Cols / t.productRows()
	for low := part.low; low < part.high; low += stripe {
		high := min(low+stripe, part.high)
		if w.job.done == 0 {
			clear(w.job.dst[t.Param+low*row : t.Param+high*row])
		}
		for i := range w.job.together {
			w.borrowed(thread, i).sumTerm(w.job.dst, t, low, high)
		}
	}
}

// borrowed is the i-th context with the scratch memory of a thread.
func (w *worker) borrowed(thread, i int) *context {
	return w.contexts[i].borrowing(w.contexts[thread], &w.views[thread])
}

// borrowing returns in view the chunk of c with the scratch memory of another context. Sums
// need that memory for one term only.
func (c *context) borrowing(scratch, view *context) *context {
	if c == scratch {
		return c
	}
	*view = *c
	view.rowSum, view.some = scratch.rowSum, scratch.some
	return view
}
