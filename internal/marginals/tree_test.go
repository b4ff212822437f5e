package marginals

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/privacy/noise"
)

// brute sums over every cell of the domain.
func brute(d Domain, sets []Set, theta [][]float64, zeros []Zeros) (log float64, joint []float64) {
	all := make(Set, len(d))
	for k := range d {
		all[k] = k
	}
	joint = make([]float64, d.Cells(all))
	index := make([]int, len(d))
	cell := func(s Set) int {
		at := 0
		for _, k := range s {
			at = at*d[k] + index[k]
		}
		return at
	}
	total := 0.0
	for i := range joint {
		rest := i
		for k := len(d) - 1; k >= 0; k-- {
			index[k], rest = rest%d[k], rest/d[k]
		}
		x := 0.0
		for j, s := range sets {
			x += theta[j][cell(s)]
		}
		joint[i] = math.Exp(x)
		for _, z := range zeros {
			if z.Empty[cell(z.Set)] {
				joint[i] = 0
			}
		}
		total += joint[i]
	}
	for i := range joint {
		joint[i] /= total
	}
	return math.Log(total), joint
}

type problem struct {
	domain Domain
	sets   []Set
	zeros  []Zeros
}

func problems(random *noise.Random) []problem {
	block := func(d Domain, share float64, columns ...int) Zeros {
		z := Zeros{Set: NewSet(columns...)}
		z.Empty = make([]bool, d.Cells(z.Set))
		for i := range z.Empty {
			z.Empty[i] = i > 0 && random.Uniform() < share
		}
		return z
	}
	d := Domain{3, 2, 4, 2, 3, 5}
	cycle := []Set{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 5}, {2}}
	return []problem{
		{d, []Set{{0}, {1}, {2}, {3}, {4}, {5}}, nil},
		{d, []Set{{0, 1}, {1, 2}, {3, 4}}, nil}, // a forest
		{d, cycle, nil},
		{d, []Set{{0, 1, 2}, {2, 3}, {2, 4}, {3, 4, 5}}, nil},
		{d, cycle, []Zeros{block(d, .3, 0, 1), block(d, .4, 1, 5)}},
		{d, cycle, []Zeros{block(d, .5, 2, 3, 5), block(d, .5, 4, 5)}},
		{Domain{1, 4, 1}, []Set{{0, 1}, {1, 2}}, nil},
	}
}

func draw(t *Tree, random *noise.Random) {
	for i := range t.theta {
		t.theta[i] = 2 * random.Normal()
	}
}

// Means and log Z agree with sums over all cells to rounding.
func TestInferIsExact(t *testing.T) {
	r := noise.NewRandom(noise.Public(1).Stream(noise.Twin))
	for i, p := range problems(r) {
		for workers := 1; workers <= 2; workers++ {
			t.Run(fmt.Sprint(i, workers), func(t *testing.T) {
				tree, err := NewTree(p.domain, Tables(p.sets...), p.zeros, 1<<20, workers)
				if err != nil {
					t.Fatal(err)
				}
				defer tree.Close()
				draw(tree, r)
				log := tree.Infer()
				want, joint := brute(p.domain, p.sets, tree.Theta, p.zeros)
				if math.Abs(log-want) > 1e-11*(1+math.Abs(want)) {
					t.Errorf("log Z %g, want %g", log, want)
				}
				all := Set{0, 1, 2, 3, 4, 5}[:len(p.domain)]
				for j, s := range p.sets {
					mean := make([]float64, p.domain.Cells(s))
					p.domain.Project(mean, joint, all, s)
					for c, m := range mean {
						if math.Abs(m-tree.Means[j][c]) > 1e-12 {
							t.Fatalf("set %v cell %d: %g, want %g", s, c, tree.Means[j][c], m)
						}
					}
				}
			})
		}
	}
}
