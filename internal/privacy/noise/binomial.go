package noise

import (
	"math"
	"sort"
)

// Binomial draws from Binomial(n, p) with n and p fixed, by rejection from a
// staircase: equal steps of whole numbers cover the law up to its tails, each
// step is chosen in proportion to its highest probability (alias method, Walker
// 1977, in integers), a number is taken uniformly within it and kept with
// probability pmf(k)/height. Each tail is a step of weight 1, of which a number
// is drawn by inversion (see tail). A float64 bound settles nearly every
// comparison and arithmetic with as many bits as it takes the rest (see
// fraction), so the law is exact for every p and every n up to 2^40.
type Binomial struct {
	n       uint64
	law     pmf
	flipped bool // p > 1/2: draw the failures

	first  uint64 // smallest number of the first step
	width  uint64 // numbers per step
	last   uint64 // largest number drawn
	unit   float64
	weight [slots]uint64 // height of the step, in units, relative to the mode
	sure   [slots]uint64 // kept when a 64-bit fraction is below this
	below  [slots]uint64 // alias threshold within the slot, of 2^slotBits
	alias  [slots]uint8
}

const (
	slots    = 256
	slotBits = 55 // of a 64-bit word, after 8 bits choose the slot
	reject   = slots - 1

	// The tails begin where log(pmf/mode) falls below this: 80 bits. The law is
	// log-concave, so it falls as much again within the next last+1-mode numbers.
	// Hence the sum of pmf/mode over a tail is below 2^-79·255·width, and below
	// unit·width, which its step holds.
	cutoff = -80 * math.Ln2
)

// maxTrials bounds the time that exact arithmetic can take.
const maxTrials = 1 << 40

// NewBinomial prepares draws from Binomial(n, p). It panics unless
// n <= 2^40 and 0 <= p <= 1.
func NewBinomial(n uint64, p float64) *Binomial {
	if n > maxTrials || !(p >= 0 && p <= 1) {
		panic("noise: binomial needs n <= 2^40 and p in [0, 1]")
	}
	b := &Binomial{n: n}
	if p > 0.5 {
		p = 1 - p // exact
		b.flipped = true
	}
	b.law = newPMF(n, p)
	b.first, b.last = b.law.support(cutoff)
	// the last slot stays free to absorb rounding
	b.width = (b.last-b.first)/reject + 1
	b.fill()
	return b
}

// fill sets the weights and the alias table.
func (b *Binomial) fill() {
	// Each step's height bounds the law over it: the law rises to its mode and
	// falls after it, and ratio errs by less than slack.
	var height, floor [slots]float64
	var total float64
	steps := int((b.last-b.first)/b.width) + 1
	for i := range steps {
		lo := b.first + uint64(i)*b.width
		hi := min(lo+b.width-1, b.last)
		height[i] = b.law.ratio(min(max(b.law.mode, lo), hi)) * (1 + 2*b.law.slack)
		floor[i] = min(b.law.ratio(lo), b.law.ratio(hi)) * (1 - 2*b.law.slack)
		total += height[i]
	}
	// heights are rounded up to whole units; the excess is rejected
	const whole = slots << slotBits
	b.unit = total / (whole - 1<<20)
	left := uint64(whole)
	for i := range steps {
		b.weight[i] = uint64(math.Ceil(height[i] / b.unit))
		b.sure[i] = uint64(floor[i] / (float64(b.weight[i]) * b.unit) * 0x1p64)
		left -= b.weight[i]
	}
	b.weight[reject] = left
	b.walker()
}

// walker builds the alias table of the weights, which add up to
// slots·2^slotBits.
func (b *Binomial) walker() {
	weight := b.weight
	var small, large [slots]uint8
	ns, nl := 0, 0
	for i, w := range weight {
		if w < 1<<slotBits {
			small[ns] = uint8(i)
			ns++
		} else {
			large[nl] = uint8(i)
			nl++
		}
	}
	for ns > 0 {
		ns--
		i := small[ns]
		j := large[nl-1]
		b.below[i], b.alias[i] = weight[i], j
		weight[j] -= 1<<slotBits - weight[i]
		if weight[j] < 1<<slotBits {
			nl--
			small[ns] = j
			ns++
		}
	}
	for _, i := range large[:nl] {
		b.below[i], b.alias[i] = 1<<slotBits, i
	}
}

// Draw returns the number of successes, from the next words of s.
func (b *Binomial) Draw(s *Stream) uint64 {
	for {
		w := s.Uint64()
		i := int(w >> 56)
		if w<<8>>9 >= b.below[i] {
			i = int(b.alias[i])
		}
		if i == reject {
			if side := w << 8 >> 9; w>>56 == reject && side < 2 { // each tail has one of 2^63 places; fill leaves more
				if k, kept := b.tail(side == 1, s.Uint64(), s); kept {
					return b.counted(k)
				}
			}
			continue
		}
		k := b.first + uint64(i)*b.width
		if b.width > 1 {
			k += s.Uint64n(b.width)
		}
		if k > b.last {
			continue
		}
		if v := s.Uint64(); v >= b.sure[i] && !b.keep(v, k, b.weight[i], s) {
			continue
		}
		return b.counted(k)
	}
}

// counted is the number of successes that k stands for.
func (b *Binomial) counted(k uint64) uint64 {
	if b.flipped {
		return b.n - k
	}
	return k
}

// keep reports whether a fraction whose first 64 bits are v is below the law's
// ratio at k over the height of its step. Only when the two are closer than the
// float64 error, or these bits do not decide, is the ratio computed with more
// bits; s gives the fraction's further ones.
func (b *Binomial) keep(v, k, weight uint64, s *Stream) bool {
	got := b.law.ratio(k) / (float64(weight) * b.unit)
	switch margin := 2 * b.law.slack * got; {
	case (float64(v)+1)*0x1p-64 < got-margin:
		return true
	case float64(v)*0x1p-64 > got+margin:
		return false
	}
	return b.law.exactlyBelow(newFraction(v, s), k, weight, b.unit)
}

// tail draws a number above the steps, or below them, with probability
// pmf(k)/pmf(mode)/(unit·width), and none with the remaining probability, by inversion of a
// fraction whose first digits are those of word.
func (b *Binomial) tail(above bool, word uint64, s *Stream) (k uint64, kept bool) {
	most := int(b.first)
	number := func(d int) uint64 { return b.first - 1 - uint64(d) }
	if above {
		most = int(b.n - b.last)
		number = func(d int) uint64 { return b.last + 1 + uint64(d) }
	}
	if most == 0 || word>>56 > 0 { // the tail has less than 2^-8 of its step
		return 0, false
	}
	u := newFraction(word, s)
	d := sort.Search(most, func(d int) bool { return u.below(b.law.tailSum(number(0), number(d), b.unit, b.width)) })
	return number(d), d < most
}
