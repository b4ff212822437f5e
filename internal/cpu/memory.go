package cpu

import (
	"unsafe"

	"d3p/internal/models/graph"
)

// Memory is the memory, in bytes, of one thread that computes the given number of records
// of a float32 table at a time. A batch of any size is cut into chunks of at most that many
// records. The table, the parameters and each thread's sum take more memory. Its errors are
// those of Open.
func Memory(t *graph.Tape) (bytes, records int, err error) {
	p, err := compile(t)
	if err != nil {
		return 0, 0, err
	}
	numbers := p.lanes + p.weighted + p.matrices + t.AuxRecord
	if p.widePairs {
		numbers += 2 * p.divided
	}
	once := p.rights() + 2*p.kept + p.numbers + p.longest + 2*p.elements + p.mostRows + p.picked + p.widest
	if p.panels > 0 {
		once += int(unsafe.Sizeof(gramScratch{})) / 8
	}
	return 8*(numbers*p.chunk+once) + 4*p.chunk*(p.single.right+p.single.left), p.chunk, nil
}
