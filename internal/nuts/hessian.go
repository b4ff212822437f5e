package nuts

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// curvature computes negative Hessians of a log density by central differences of gradients.
// Where most entries are zero, as between the effects of different groups, one difference
// serves many coordinates: those that curve with many others are moved alone, and of the
// others one of each independent block at a time. Powell and Toint 1979, SIAM J. Numer.
// Anal. 16.
type curvature struct {
	density Density
	rng     Rand
	parts   *blocks // nil: every coordinate is moved alone
}

// at is the negative Hessian at x by differences of the given widths (D).
func (c *curvature) at(x, width []float64) (*mat.SymDense, error) {
	if c.parts != nil {
		h, err := c.measure(x, width, c.parts)
		if err != nil {
			return nil, err
		}
		right := true
		for i := 0; i < 2 && right && err == nil; i++ {
			right, err = c.probe(h, x, width)
		}
		if right || err != nil {
			return h, err
		}
	}
	h, err := c.measure(x, width, alone(len(x)))
	if err == nil {
		c.parts = newBlocks(h)
	}
	return h, err
}

// difference sets dst to minus the change of the gradient from x − step to x + step, halved.
func (c *curvature) difference(dst, x, step []float64) error {
	moved, down := make([]float64, len(x)), make([]float64, len(x))
	for side, g := range [][]float64{dst, down} {
		for j := range x {
			moved[j] = x[j] + step[j]*float64(1-2*side)
		}
		if _, err := c.density(g, moved); err != nil {
			return err
		}
	}
	for j := range dst {
		dst[j] = (down[j] - dst[j]) / 2
	}
	return nil
}

// measure moves the coordinates of one set of b at a time.
func (c *curvature) measure(x, width []float64, b *blocks) (*mat.SymDense, error) {
	p := len(x)
	full := make([]float64, p*p) // row j: the change of the gradient with x_j
	change, step := make([]float64, p), make([]float64, p)
	for _, set := range b.sets {
		clear(step)
		for _, j := range set {
			step[j] = width[j]
		}
		if err := c.difference(change, x, step); err != nil {
			return nil, err
		}
		for _, j := range set {
			for k := range p {
				if len(set) == 1 || b.of[k] == b.of[j] {
					full[j*p+k] = change[k] / width[j]
				}
			}
		}
	}
	s := mat.NewSymDense(p, nil)
	for j := range p {
		for k := j; k < p; k++ {
			switch up, low := full[j*p+k], full[k*p+j]; {
			case b.of[j] == b.of[k]:
				s.SetSym(j, k, (up+low)/2)
			case b.of[j] == moved:
				s.SetSym(j, k, up)
			default:
				s.SetSym(j, k, low)
			}
		}
	}
	return s, nil
}

// probe reports whether h agrees with a difference in a random direction.
func (c *curvature) probe(h *mat.SymDense, x, width []float64) (bool, error) {
	p := len(x)
	step, change := make([]float64, p), make([]float64, p)
	for j := range step {
		step[j] = c.rng.Normal() * width[j] / math.Sqrt(float64(p))
	}
	if err := c.difference(change, x, step); err != nil {
		return false, err
	}
	const tolerance = 0.1
	for j := range p {
		want, size := 0.0, 0.0
		for k, s := range step {
			want += h.At(j, k) * s
			size += math.Abs(h.At(j, k) * s)
		}
		if !(math.Abs(change[j]-want) <= tolerance*size) {
			return false, nil
		}
	}
	return true, nil
}

// blocks are sets of coordinates that may be moved together.
type blocks struct {
	sets [][]int
	of   []int // (D) number of the coordinate's block, or moved: it is alone in its set
}

const moved = -1

func alone(p int) *blocks {
	b := &blocks{of: slices.Repeat([]int{moved}, p)}
	for j := range p {
		b.sets = append(b.sets, []int{j})
	}
	return b
}

// newBlocks moves alone the coordinates with the most entries in h, as many as make the
// fewest sets.
func newBlocks(h *mat.SymDense) *blocks {
	p := h.SymmetricDim()
	order, entries := make([]int, p), make([]int, p)
	for j := range p {
		order[j] = j
		for k := range p {
			if h.At(j, k) != 0 {
				entries[j]++
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return entries[j] - entries[i] })
	best := alone(p)
	for n := 0; n < len(best.sets); n++ {
		if b := split(h, order[:n], order[n:]); len(b.sets) < len(best.sets) {
			best = b
		}
	}
	return best
}

// split moves some coordinates alone, and one of each connected block of the rest at a time.
func split(h *mat.SymDense, single, rest []int) *blocks {
	b := &blocks{of: slices.Repeat([]int{moved}, h.SymmetricDim())}
	for _, j := range single {
		b.sets = append(b.sets, []int{j})
	}
	first := len(b.sets)
	for i, j := range rest {
		if b.of[j] != moved {
			continue
		}
		block := []int{j}
		b.of[j] = i
		for at := 0; at < len(block); at++ {
			if first+at == len(b.sets) {
				b.sets = append(b.sets, nil)
			}
			b.sets[first+at] = append(b.sets[first+at], block[at])
			for _, k := range rest {
				if b.of[k] == moved && h.At(block[at], k) != 0 {
					b.of[k] = i
					block = append(block, k)
				}
			}
		}
	}
	return b
}
