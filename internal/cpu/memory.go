package cpu

import "d3p/internal/models/graph"

// Memory is what a thread of the engine takes, in bytes, to work on so many
// records of a float32 table at once. The batch, of whatever size, is cut into
// chunks of at most that many; beside this there are the table, the parameters
// and a sum of as many numbers for each thread. The error is that of Open.
func Memory(t *graph.Tape) (bytes, records int, err error) {
	p, err := compile(t)
	if err != nil {
		return 0, 0, err
	}
	numbers := p.lanes + p.weighted + p.turned + p.kept + t.AuxRecord
	if p.widePairs {
		numbers += 2 * p.divided
	}
	once := p.numbers + p.longest + 2*p.elements + 2*gramBlock*p.widest + p.longestRow
	return 8*(numbers*p.chunk+once) + 4*p.chunk*(p.single.right+p.single.left), p.chunk, nil
}
