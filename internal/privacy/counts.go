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

// grain is the unit in which weights are whole numbers, so that sums are exact in float64.
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

// Counts returns the noisy counts of each partition's cells. All counts of a call are one
// release, one entry of the ledger, charged before a sum is computed. No content of a
// record is an error. The columns are those of CuratorConfig.Columns.
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
	stream, err := c.charge(purpose, CountsEvent(partitions, c.relation), c.columns.cfg.Encoding, partitions)
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
// before the first of them is released. Over budget: *BudgetError. It spends nothing.
func (c *Curator) Authorise(events ...event.Event) error {
	_, err := c.budget.certify(c.ledger, event.Composed{Events: events}, c.relation)
	return err
}

// charge certifies the event of a query together with the ledger, enters it, and returns the stream
// of its noise. Nothing is charged unless all ranks have the same query.
func (c *Curator) charge(purpose string, ev event.Event, query ...any) (*noise.Stream, error) {
	if c.session != nil {
		return nil, errors.New("privacy: a session is open (close it first)")
	}
	if err := c.agreeOn(purpose, ev, query); err != nil {
		return nil, err
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
	axes   []*cellAxis
	usable bool
	n      int
}

// cellAxis is an axis of one partition or several.
type cellAxis struct {
	column string
	cuts   []float64
	n      int
	at     int // among the axes of all partitions

	// Once the columns are read:
	coded  *records.CodedColumn
	stored []float64 // the cuts
	first  [buckets]int32
	low    float64 // of the numbers that have a bucket
	scale  float64 // buckets per number
}

// buckets divide the stored numbers between the first and the last cut. Each has the cell
// in which it starts.
const buckets = 256

// cells checks the partitions.
func (c *Columns) cells(partitions []Partition) ([]cells, error) {
	if len(partitions) == 0 || len(partitions) > 1000 {
		return nil, fmt.Errorf("privacy: %d partitions, want 1 to 1000", len(partitions))
	}
	var list []cells
	var axes []*cellAxis
	for _, p := range partitions {
		if !(p.Noise >= leastNoise && p.Noise <= mostNoise) {
			return nil, fmt.Errorf("privacy: noise %g of counts is not in [%g, %g]", p.Noise, leastNoise, mostNoise)
		}
		k := cells{usable: p.Usable, n: 1}
		for _, a := range p.Axes {
			axis, err := c.axis(a, &axes)
			if err != nil {
				return nil, err
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

// axis returns the axis of the list that is a, or adds it.
func (c *Columns) axis(a Axis, list *[]*cellAxis) (*cellAxis, error) {
	f, err := c.find(a.Column)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(*list, func(k *cellAxis) bool {
		return k.column == a.Column && slices.Equal(k.cuts, a.Cuts)
	}); i >= 0 {
		return (*list)[i], nil
	}
	axis := &cellAxis{column: a.Column, cuts: a.Cuts, n: len(a.Cuts) + 2, at: len(*list)}
	switch {
	case f.Levels != nil && a.Cuts != nil:
		return nil, fmt.Errorf("privacy: column %s has levels, no cuts", a.Column)
	case f.Levels != nil:
		axis.n = len(f.Levels) + 2
	}
	for i, x := range a.Cuts {
		if math.IsNaN(x) || i > 0 && !(x > a.Cuts[i-1]) {
			return nil, fmt.Errorf("privacy: the cuts of column %s are not ascending", a.Column)
		}
	}
	*list = append(*list, axis)
	return axis, nil
}

// bind gives the axis the rows' codes and numbers of its column.
func (a *cellAxis) bind(c *Columns) {
	a.coded = c.coded(a.column)
	if a.coded.Number < 0 || len(a.cuts) == 0 {
		return
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
		return
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

// cell is the cell of row r of record i, from its codes.
func (a *cellAxis) cell(rows *Rows, i, r int, codes []byte) int32 {
	own := a.coded.Code(codes)
	switch {
	case a.coded.Number < 0:
		return int32(own)
	case own != 0:
		return int32(a.n - 1)
	}
	return int32(a.between(number(rows, i, r, a.coded.Number)))
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

// count returns, for each partition, the weight of its cells.
func (c *Columns) count(list []cells) sums {
	var axes []*cellAxis
	for _, k := range list {
		for _, a := range k.axes {
			if a.at == len(axes) {
				a.bind(c)
				axes = append(axes, a)
			}
		}
	}
	empty := func() sums {
		s := make(sums, len(list))
		for i := range list {
			s[i] = make([]int64, list[i].n)
		}
		return s
	}
	return c.over(empty, func(to sums, low, high int) {
		most := c.rows.Codes.Most
		b := newCountBlock(axes, max(1, blockRows/most)*most)
		for low < high {
			next := min(high, low+len(b.product)/most)
			b.read(c.rows, low, next)
			for i := range list {
				b.addTo(to[i], &list[i])
			}
			low = next
		}
	})
}

// blockRows is about the number of rows that count takes at a time: their cells on a
// hundred axes stay in a core's cache.
const blockRows = 1024

// countBlock has some rows: their cells on every axis, and their weights in units of
// 1/grain. Each of the k rows of a unit has grain/k, rounded down. A row that is not usable
// has the usable weight 0.
type countBlock struct {
	axes        []*cellAxis
	on          [][]int32 // by axis and row
	all, usable []int64
	product     []int32 // the cells of a partition
}

func newCountBlock(axes []*cellAxis, rows int) *countBlock {
	b := &countBlock{axes: axes, on: make([][]int32, len(axes)), product: make([]int32, rows)}
	for a := range b.on {
		b.on[a] = make([]int32, rows)
	}
	return b
}

// read takes the rows of records low to high.
func (b *countBlock) read(rows *Rows, low, high int) {
	b.all, b.usable = b.all[:0], b.usable[:0]
	for i := low; i < high; i++ {
		first, usable := len(b.all), int64(0)
		for r := range rows.Codes.Most {
			codes := rows.Codes.Row(i, r)
			state := records.RowState(codes[0])
			if state != records.UsableRow && state != records.RejectedRow {
				continue
			}
			at, own := len(b.all), int64(0)
			if state == records.UsableRow {
				own = 1
			}
			usable += own
			b.all, b.usable = append(b.all, 1), append(b.usable, own)
			for a, axis := range b.axes {
				b.on[a][at] = axis.cell(rows, i, r, codes)
			}
		}
		for at := first; at < len(b.all); at++ {
			b.all[at] = grain / int64(len(b.all)-first)
			if b.usable[at] > 0 {
				b.usable[at] = grain / usable
			}
		}
	}
}

// addTo adds the rows' weights to the cells of a partition.
func (b *countBlock) addTo(sum []int64, k *cells) {
	weights := b.all
	if k.usable {
		weights = b.usable
	}
	if len(k.axes) == 0 {
		for _, w := range weights {
			sum[0] += w
		}
		return
	}
	rows := len(weights)
	cell := b.on[k.axes[0].at][:rows]
	for _, a := range k.axes[1:] {
		n, on, product := int32(a.n), b.on[a.at][:rows], b.product[:rows]
		for j, x := range cell {
			product[j] = x*n + on[j]
		}
		cell = product
	}
	for j, w := range weights {
		sum[cell[j]] += w
	}
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
