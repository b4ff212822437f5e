package privacy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/noise"
)

// Axis divides rows by one column of the file. The last cell has the rows without a
// value. The cells before it are, for a number within its bounds, those between the
// cuts: below the first, from each to below the next, from the last on; number and cut
// are compared as the table stores them. For a category they are the declared levels,
// then the levels that are not declared.
type Axis struct {
	Column string
	Cuts   []float64 // ascending; of numbers only
}

// Partition asks how the units spread over cells: every combination of its axes'
// cells, the last axis fastest. Without an axis it has one cell. The weight of a
// unit is 1, in equal parts on its rows.
type Partition struct {
	Axes []Axis
	// Usable leaves out the rows that the declared rules leave out of a fit.
	Usable bool
	// Noise is the standard deviation of every count's noise.
	Noise float64
}

// mostCells bounds a partition.
const mostCells = 1 << 24

// grain is the unit in which weights are whole numbers: sums are exact in float64.
const grain = 1 << 20

// CountsEvent is the event of one Counts of these partitions: one Gaussian. One unit
// moves a partition by a vector whose parts have one sign and add up to at most 1, so by
// at most 1 in L2. It moves all of them by at most 1/σ in units of their noise, with σ⁻²
// = Σ σ_p⁻². Under substitution two such vectors differ by at most √2, where the
// accountant assumes 2; under zero_out a null record may count as a missing one, and the
// two vectors differ by at most √2, too.
func CountsEvent(partitions []Partition, rel event.Relation) event.Event {
	sum := 0.0
	for _, p := range partitions {
		sum += 1 / (p.Noise * p.Noise)
	}
	sigma := (1 - 0x1p-40) / math.Sqrt(sum) // the sum has fewer than 2^10 roundings
	switch rel {
	case event.Substitute:
		sigma *= math.Sqrt2
	case event.ZeroOut:
		sigma /= math.Sqrt2
	}
	return event.Gaussian{NoiseMultiplier: sigma}
}

// Counts returns the noisy counts of each partition's cells. All of a call are one
// release, one entry of the ledger. It is charged before a sum is computed; no content of
// a record is an error. The columns are those of CuratorConfig.Columns.
func (c *Curator) Counts(purpose string, partitions []Partition) ([][]float64, error) {
	if c.columns == nil {
		return nil, errors.New("privacy: the curator has no columns to count")
	}
	cells, err := c.columns.cells(partitions)
	if err != nil {
		return nil, err
	}
	if err := c.ReadColumns(); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, CountsEvent(partitions, c.relation))
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	sums := c.columns.count(cells)
	counts := make([][]float64, len(partitions))
	for i, p := range partitions {
		counts[i] = exact(sums[i])
		err := releaseTogether(c.ranks, counts[i], func() {
			stream.Seek(uint64(i))
			stream.AddGaussian(counts[i], p.Noise)
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// Authorise certifies that all of these events together fit into the rest of the budget,
// before any of them is released. Over budget: *BudgetError. It spends nothing.
func (c *Curator) Authorise(events ...event.Event) error {
	_, err := c.budget.certify(c.ledger, event.Composed{Events: events}, c.relation)
	return err
}

// charge certifies an event together with the ledger, enters it, and returns the stream
// of its noise.
func (c *Curator) charge(purpose string, ev event.Event) (*noise.Stream, error) {
	if c.session != nil {
		return nil, errors.New("privacy: a session is open (close it first)")
	}
	if _, err := c.budget.certify(c.ledger, ev, c.relation); err != nil {
		return nil, err
	}
	// the number of entries travels with the ledger: no two releases of one root share a noise
	root := c.root.Child(releases + uint64(len(c.ledger.Entries)))
	c.ledger.Entries = append(c.ledger.Entries, Entry{Time: c.now().UTC(), Purpose: purpose, Event: ev, Steps: 1, Authorised: 1})
	return root.Stream(noise.TableNoise), nil
}

// releases is the first child of the root for releases that are no session.
const releases = 1 << 32

// cells assigns rows to the cells of a partition.
type cells struct {
	axes   []cellAxis
	usable bool
	n      int
}

type cellAxis struct {
	column string
	cuts   []float64
	n      int

	// Once the columns are read:
	coded  *records.CodedColumn
	stored []float64 // the cuts
	first  [buckets]int32
	low    float64 // of the numbers that have a bucket
	scale  float64 // buckets per number
}

// buckets divide the stored numbers between the first and the last cut; each has the cell
// in which it starts.
const buckets = 256

// cells checks the partitions.
func (c *Columns) cells(partitions []Partition) ([]cells, error) {
	if len(partitions) == 0 || len(partitions) > 1000 {
		return nil, fmt.Errorf("privacy: %d partitions, want 1 to 1000", len(partitions))
	}
	var list []cells
	for _, p := range partitions {
		if !(p.Noise >= leastNoise && p.Noise <= mostNoise) {
			return nil, fmt.Errorf("privacy: noise %g of counts is not in [%g, %g]", p.Noise, leastNoise, mostNoise)
		}
		k := cells{usable: p.Usable, n: 1}
		for _, a := range p.Axes {
			f, err := c.find(a.Column)
			if err != nil {
				return nil, err
			}
			axis := cellAxis{column: a.Column, cuts: a.Cuts}
			switch {
			case f.Levels != nil && a.Cuts != nil:
				return nil, fmt.Errorf("privacy: column %s has levels, no cuts", a.Column)
			case f.Levels != nil:
				axis.n = len(f.Levels) + 2
			default:
				for i, x := range a.Cuts {
					if math.IsNaN(x) || i > 0 && !(x > a.Cuts[i-1]) {
						return nil, fmt.Errorf("privacy: the cuts of column %s are not ascending", a.Column)
					}
				}
				axis.n = len(a.Cuts) + 2
			}
			if k.n > mostCells/axis.n {
				return nil, fmt.Errorf("privacy: a partition has more than %d cells (use fewer cuts or axes)", mostCells)
			}
			k.n *= axis.n
			k.axes = append(k.axes, axis)
		}
		list = append(list, k)
	}
	return list, nil
}

// bind gives the axes the rows' codes and numbers of their columns.
func (k *cells) bind(c *Columns) {
	for i := range k.axes {
		a := &k.axes[i]
		a.coded = c.coded(a.column)
		if a.coded.Number < 0 || len(a.cuts) == 0 {
			continue
		}
		a.stored = make([]float64, len(a.cuts))
		for j, x := range a.cuts {
			switch {
			case x <= a.coded.Lower():
				a.stored[j] = math.Inf(-1) // every number is at least that
			case x > a.coded.Upper():
				a.stored[j] = math.Inf(1)
			default:
				a.stored[j] = a.coded.Stored(x, c.rows.Precision())
			}
		}
		inner := slices.DeleteFunc(slices.Clone(a.stored), func(x float64) bool { return math.IsInf(x, 0) })
		if len(inner) == 0 {
			continue
		}
		a.low = inner[0]
		high := inner[len(inner)-1]
		a.scale = buckets / (high - a.low)
		if !(a.scale > 0 && a.scale <= math.MaxFloat64) {
			a.scale = 0 // all in one bucket
		}
		for b := range a.first {
			// a bucket earlier, so that rounding starts no number behind its cell
			from := a.low + float64(b-1)/a.scale
			if b == 0 || a.scale == 0 || from != from {
				from = math.Inf(-1)
			}
			at, _ := slices.BinarySearch(a.stored, from)
			a.first[b] = int32(at)
		}
	}
}

// of is the cell of row r of record i.
func (k *cells) of(rows *Rows, i, r int) int {
	cell, row := 0, rows.Codes.Row(i, r)
	for j := range k.axes {
		a := &k.axes[j]
		own := a.coded.Code(row)
		if a.coded.Number >= 0 {
			if own != 0 {
				own = a.n - 1
			} else {
				own = a.between(number(rows, i, r, a.coded.Number))
			}
		}
		cell = cell*a.n + own
	}
	return cell
}

// between is the number of cuts that are at most x.
func (a *cellAxis) between(x float64) int {
	b := min(max((x-a.low)*a.scale, 0), buckets-1)
	cell := int(a.first[int(b)])
	for cell < len(a.stored) && x >= a.stored[cell] {
		cell++
	}
	return cell
}

// weigh adds a unit to the weights of cells, in units of 1/grain: grain/k, rounded down,
// for each of its k rows. of are the rows' cells.
func weigh(weights []int64, of []int) {
	for _, cell := range of {
		weights[cell] += grain / int64(len(of))
	}
}

// count returns, for each partition, the weight of its cells.
func (c *Columns) count(list []cells) sums {
	for i := range list {
		list[i].bind(c)
	}
	empty := func() sums {
		s := make(sums, len(list))
		for i := range list {
			s[i] = make([]int64, list[i].n)
		}
		return s
	}
	return c.over(empty, func(to sums, low, high int) {
		var all, usable, at []int
		for i := low; i < high; i++ {
			all, usable = c.rowsOf(all[:0], i, false), c.rowsOf(usable[:0], i, true)
			for k := range list {
				of := all
				if list[k].usable {
					of = usable
				}
				at = at[:0]
				for _, r := range of {
					at = append(at, list[k].of(c.rows, i, r))
				}
				weigh(to[k], at)
			}
		}
	})
}

// exact is a sum in units of 1: exact for fewer than 2^32 units, and no number
// that the noise refuses for any.
func exact(sum []int64) []float64 {
	out := make([]float64, len(sum))
	for i, x := range sum {
		out[i] = float64(x) / grain
	}
	confine(out, 1)
	return out
}
