package graph

import (
	"fmt"
	"slices"
)

// An adjoint collects one record's derivative of the loss with respect to a
// node. Per-record nodes have dense adjoints; those of global nodes may keep
// structured parts, because their size does not depend on the batch.
type adjoint struct {
	dense *Node // the node's shape, or a scalar for every element
	parts []structured
	// masked: a branch on the way to the loss was not taken; where the adjoint is 0, it
	// stays 0 even if a partial derivative is infinite
	masked bool
}

// reverse is one pass of reverse-mode differentiation. It builds the adjoints as nodes of
// the same Builder, so that they share nodes with the density.
type reverse struct {
	b      *Builder
	needs  map[*Node]bool
	adj    map[*Node]*adjoint
	notes  []string
	finite map[*Node]bool // results of bounded
	// branches: a gradient flows through a Where, whose other branch may hold anything
	branches bool
	joins    []join
}

// gradient returns the structured parts of the gradient with respect to each
// Param leaf that the scalar loss depends on.
func (r *reverse) gradient(loss *Node) map[*Node][]structured {
	var order []*Node
	r.visit(loss, &order)
	slices.SortFunc(order, func(x, y *Node) int { return y.id - x.id })
	out := map[*Node][]structured{}
	if !r.needs[loss] {
		return out
	}
	r.adj[loss] = &adjoint{dense: r.b.Const(1)}
	for _, n := range order {
		a := r.adj[n]
		if a == nil {
			continue
		}
		if n.op == OpParam {
			out[n] = r.leafParts(n, a)
			continue
		}
		r.propagate(n, a)
		delete(r.adj, n)
	}
	r.shareDeltas(out)
	return out
}

// visit finds the nodes through which the loss depends on a Param.
func (r *reverse) visit(n *Node, order *[]*Node) bool {
	if need, seen := r.needs[n]; seen {
		return need
	}
	need := n.op == OpParam
	if n.op != OpStop {
		for _, a := range n.args {
			need = r.visit(a, order) || need
		}
	}
	r.needs[n] = need
	if need {
		*order = append(*order, n)
		r.branches = r.branches || n.op == OpWhere
	}
	return need
}

// of is the adjoint of n, to be added to.
func (r *reverse) of(n *Node, masked bool) *adjoint {
	a := r.adj[n]
	if a == nil {
		a = &adjoint{}
		r.adj[n] = a
	}
	a.masked = a.masked || masked
	return a
}

// add adds a dense contribution with n's elements in order, or a scalar one.
func (r *reverse) add(n, c *Node, masked bool) {
	if c.size == n.size {
		c = r.b.view(c, n.shape, nil)
	}
	a := r.of(n, masked)
	if a.dense == nil {
		a.dense = c
	} else {
		a.dense = r.b.Add(a.dense, c)
	}
}

// addPart adds a structured contribution, joined to one with the same factor.
func (r *reverse) addPart(n *Node, s structured, masked bool) {
	if s.index == nil && s.x == nil && s.cols == n.size && isIdentity(s.positions()) {
		r.add(n, s.delta, masked)
		return
	}
	a := r.of(n, masked)
	for i, t := range a.parts {
		if s.sameBut(t) {
			a.parts[i].delta = r.b.Add(r.b.vector(t.delta), r.b.vector(s.delta))
			return
		}
	}
	a.parts = append(a.parts, s)
}

// full is a dense adjoint of n with all its elements.
func (r *reverse) full(n, c *Node) *Node {
	if c.size == n.size {
		return r.b.view(c, n.shape, nil)
	}
	return r.b.Expand(r.b.view(c, nil, nil), n.shape)
}

// flatten turns structured parts of a global node into the dense adjoint, with
// a note.
func (r *reverse) flatten(n *Node, a *adjoint, parts []structured, why string) {
	for _, s := range parts {
		r.note(n, why)
		c := r.b.dense(s, n.shape)
		if a.dense == nil {
			a.dense = c
		} else {
			a.dense = r.b.Add(a.dense, c)
		}
	}
}

// note records that a gradient takes one lane for each element of n.
func (r *reverse) note(n *Node, why string) {
	if n.size == 1 {
		return
	}
	what := n.op.String()
	if n.Name() != "" {
		what += " " + n.Name()
	}
	s := fmt.Sprintf("gradient of %s %v is materialised, %d values per record: %s", what, n.shape, n.size, why)
	if !slices.Contains(r.notes, s) {
		r.notes = append(r.notes, s)
	}
}

// product is adj·p, with 0 winning over everything if masked.
func (r *reverse) product(adj, p *Node, masked bool) *Node {
	if masked {
		return r.b.elementwise(OpMulZero, adj, p)
	}
	return r.b.Mul(adj, p)
}
