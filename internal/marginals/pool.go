package marginals

import (
	"math"
	"sync"

	"d3p/internal/simd"
)

// pool shares the rows of a clique among workers. It allocates nothing per call.
type pool struct {
	tree    *Tree
	tasks   []chan task
	done    sync.WaitGroup
	peaks   []float64
	scratch [][]float64 // sums of each worker
	clique  *clique
	peak    float64
}

type task int

const (
	potentials task = iota
	collect
	distribute
)

// parallelCells is the size of the smallest clique that is worth a second worker.
const parallelCells = 8192

func newPool(t *Tree, workers int) *pool {
	p := &pool{tree: t, peaks: make([]float64, workers)}
	size := 1
	for i := range t.cliques {
		size = max(size, t.cliques[i].sums())
	}
	for w := range workers {
		p.scratch = append(p.scratch, make([]float64, size))
		p.tasks = append(p.tasks, make(chan task))
		if w > 0 {
			go func() {
				for task := range p.tasks[w] {
					p.work(task, w, workers)
					p.done.Done()
				}
			}()
		}
	}
	return p
}

func (p *pool) close() {
	for _, c := range p.tasks {
		close(c)
	}
}

// sums is the number of cells of all tables into which a worker sums c.
func (c *clique) sums() int {
	n := 0
	for _, f := range c.factors {
		n += f.view.size
	}
	for _, k := range c.children {
		n += k.view.size
	}
	return max(n, c.separator.size)
}

// run does a task on c and returns the number of workers that helped.
func (p *pool) run(task task, c *clique) int {
	p.clique = c
	workers := len(p.tasks)
	if len(c.belief) < parallelCells {
		p.work(task, 0, 1)
		return 1
	}
	p.done.Add(workers - 1)
	for _, c := range p.tasks[1:] {
		c <- task
	}
	p.work(task, 0, workers)
	p.done.Wait()
	return workers
}

func (p *pool) work(task task, w, workers int) {
	c := p.clique
	first, next := w*c.rows/workers, (w+1)*c.rows/workers
	switch task {
	case potentials:
		p.peaks[w] = c.potentials(first, next)
	case collect:
		c.collect(p.tree.cliques, p.scratch[w], p.peak, first, next)
	case distribute:
		c.distribute(p.scratch[w], first, next)
	}
}

// potentials sets the belief to the sum of log factors and returns the largest.
func (p *pool) potentials(c *clique) float64 {
	peak := math.Inf(-1)
	for w := range p.run(potentials, c) {
		peak = max(peak, p.peaks[w])
	}
	p.peak = peak
	return peak
}

// collect multiplies the potentials by the children's messages and sets the
// message, not yet normalised.
func (p *pool) collect(c *clique) {
	workers := p.run(collect, c)
	gather(c.message, p.scratch[:workers], 0)
}

// distribute multiplies the belief by ratio and sets the means of the factors
// and the children's ratios.
func (p *pool) distribute(c *clique) {
	workers := p.run(distribute, c)
	at := 0
	for _, f := range c.factors {
		gather(f.mean, p.scratch[:workers], at)
		at += f.view.size
	}
	for _, k := range c.children {
		gather(p.tree.cliques[k.clique].ratio, p.scratch[:workers], at)
		at += k.view.size
	}
}

func gather(dst []float64, parts [][]float64, at int) {
	copy(dst, parts[0][at:])
	for _, part := range parts[1:] {
		simd.Add(dst, dst, part[at:at+len(dst)])
	}
}

func (c *clique) potentials(first, next int) float64 {
	peak := math.Inf(-1)
	for r := first; r < next; r++ {
		row := c.belief[r*c.width : (r+1)*c.width]
		if c.base != nil {
			copy(row, c.base[r*c.width:])
		} else {
			clear(row)
		}
		shift := 0.0
		for i := range c.factors {
			f := &c.factors[i]
			if f.view.step == 0 {
				shift += f.theta[f.view.offset[r]]
			} else {
				simd.Add(row, row, f.theta[f.view.offset[r]:][:c.width])
			}
		}
		for j := range row {
			row[j] += shift
			peak = max(peak, row[j])
		}
	}
	return peak
}

func (c *clique) collect(cliques []clique, sum []float64, peak float64, first, next int) {
	sum = sum[:c.separator.size]
	clear(sum)
	for r := first; r < next; r++ {
		row := c.belief[r*c.width : (r+1)*c.width]
		simd.AddScalar(row, row, -peak)
		simd.Exp(row, row)
		scale := 1.0
		for _, k := range c.children {
			if k.view.step == 0 {
				scale *= cliques[k.clique].message[k.view.offset[r]]
			} else {
				k.view.scale(row, cliques[k.clique].message, r)
			}
		}
		if scale != 1 {
			simd.MulScalar(row, row, scale)
		}
		c.separator.sum(sum, row, r)
	}
}

func (c *clique) distribute(sum []float64, first, next int) {
	clear(sum)
	for r := first; r < next; r++ {
		row := c.belief[r*c.width : (r+1)*c.width]
		if c.separator.step == 0 {
			simd.MulScalar(row, row, c.ratio[c.separator.offset[r]])
		} else {
			c.separator.scale(row, c.ratio, r)
		}
		total := simd.Sum(row)
		at := 0
		for i := range c.factors {
			f := &c.factors[i]
			dst := sum[at+int(f.view.offset[r]):]
			if f.view.step == 0 {
				dst[0] += total
			} else {
				simd.Add(dst[:c.width], dst, row)
			}
			at += f.view.size
		}
		for i := range c.children {
			k := &c.children[i]
			if k.view.step == 0 {
				sum[at+int(k.view.offset[r])] += total
			} else {
				k.view.sum(sum[at:], row, r)
			}
			at += k.view.size
		}
	}
}

// scale multiplies the row by the table's values.
func (v *view) scale(row, table []float64, r int) {
	at := int(v.offset[r])
	for j := range row {
		row[j] *= table[at+j*v.step]
	}
}

// sum adds the row to the table.
func (v *view) sum(table, row []float64, r int) {
	at := int(v.offset[r])
	if v.step == 0 {
		table[at] += simd.Sum(row)
		return
	}
	for j, x := range row {
		table[at+j*v.step] += x
	}
}
