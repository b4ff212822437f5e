package marginals

import (
	"math"
	"slices"
)

// A structure is a junction forest: cliques in an order in which every parent precedes its
// children. A root has parent -1 and the empty separator.
type structure struct {
	cliques    []Set
	parent     []int
	separators []Set
}

// structure builds a junction forest whose cliques contain all sets, by greedy elimination.
// The next column is the one with the smallest clique.
func (u *support) structure(sets []Set, limit int) structure {
	k := len(u.domain)
	near := make([][]bool, k)
	for i := range near {
		near[i] = make([]bool, k)
	}
	for _, s := range sets {
		for _, a := range s {
			for _, b := range s {
				near[a][b] = true
			}
		}
	}
	clique := func(v int) Set {
		s := Set{}
		for u := range k {
			if u == v || near[v][u] {
				s = append(s, u)
			}
		}
		return s
	}
	var cliques []Set
	gone := make([]bool, k)
	for range k {
		best, least := -1, 0
		for v := range k {
			if gone[v] {
				continue
			}
			if c := u.cells(clique(v), limit); best < 0 || c < least {
				best, least = v, c
			}
		}
		s := clique(best)
		gone[best] = true
		for _, a := range s {
			near[a][best], near[best][a] = false, false
			for _, b := range s {
				if a != best && b != best {
					near[a][b] = true
				}
			}
		}
		if !slices.ContainsFunc(cliques, func(c Set) bool { return c.Contains(s) }) {
			cliques = append(cliques, s)
		}
	}
	return span(cliques)
}

// span joins cliques by a spanning forest of largest separators (Prim), which
// has the running intersection property for cliques of a chordal graph.
func span(cliques []Set) structure {
	n := len(cliques)
	var t structure
	in := make([]bool, n)
	place := make([]int, n)
	for len(t.cliques) < n {
		from, to, most := -1, -1, 0
		for j := range n {
			if in[j] {
				continue
			}
			if to < 0 {
				to = j
			}
			for i := range n {
				if in[i] {
					if m := len(cliques[i].Intersect(cliques[j])); m > most {
						from, to, most = i, j, m
					}
				}
			}
		}
		in[to], place[to] = true, len(t.cliques)
		t.cliques = append(t.cliques, cliques[to])
		if most == 0 {
			t.parent, t.separators = append(t.parent, -1), append(t.separators, Set{})
		} else {
			t.parent, t.separators = append(t.parent, place[from]), append(t.separators, cliques[from].Intersect(cliques[to]))
		}
	}
	return t
}

// total is the number of cells of all cliques, or math.MaxInt above limit.
func (u *support) total(s structure, limit int) int {
	n := 0
	for _, c := range s.cliques {
		m := u.cells(c, limit)
		if m > limit-n {
			return math.MaxInt
		}
		n += m
	}
	return n
}

// Size is the number of cells of the cliques of a tree for sets, or math.MaxInt
// above limit.
func Size(d Domain, sets []Set, zeros []Zeros, limit int) int {
	u := newSupport(d, zeros)
	return u.total(u.structure(withZeros(sets, zeros), limit), limit)
}
