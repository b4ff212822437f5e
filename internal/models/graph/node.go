package graph

import "slices"

// A Node is an immutable value of a Builder's graph. Nodes are hash-consed:
// within one Builder, equal expressions are the same pointer.
type Node struct {
	id    int // arguments have smaller ones
	op    Op
	shape Shape
	stage Stage
	args  []*Node
	attr  attr
	size  int
	bad   bool // the result of a misuse; everything made from it is bad too
}

// attr holds the parameters of an op other than its arguments.
type attr struct {
	values            []float64 // OpConst
	name              string    // leaves
	offset            int       // OpParam, OpAux, OpColumn
	perRecord         bool      // OpAux
	index             []int32   // OpView: source of each element; OpSum, OpMaxReduce: target of each
	rows, cols, width int       // OpMatVec, OpOuter, OpGather, OpScatter
	trans             bool      // OpMatVec
}

// Op is the operation that makes the node.
func (n *Node) Op() Op { return n.op }

// Shape is the node's shape; not to be changed.
func (n *Node) Shape() Shape { return n.shape }

// Size is the number of elements.
func (n *Node) Size() int { return n.size }

// Stage is the kind of values that the node depends on.
func (n *Node) Stage() Stage { return n.stage }

// Args are the arguments; not to be changed.
func (n *Node) Args() []*Node { return n.args }

// Name is the name of a leaf, "" for others.
func (n *Node) Name() string { return n.attr.name }

// Bad reports whether the node results from a reported misuse; using it reports nothing new.
func (n *Node) Bad() bool { return n.bad }

// Value is the value of a scalar constant.
func (n *Node) Value() (v float64, ok bool) {
	if n.op != OpConst || n.size != 1 {
		return 0, false
	}
	return n.attr.values[0], true
}

// Detail has the parameters of an operation other than its arguments; see Instr and Take.
type Detail struct {
	Values            []float64 // of a constant
	Offset            int       // of parameters and columns
	Index             []int32   // of a view, nil for the same order: the source of each element; of a reduction: the target of each
	Rows, Cols, Width int
	Trans             bool
}

// Detail returns the attributes of n, for a package that writes the graph in another form.
// The caller must not change them.
func (n *Node) Detail() Detail {
	a := &n.attr
	return Detail{a.values, a.offset, a.index, a.rows, a.cols, a.width, a.trans}
}

// is reports whether n is a constant with all elements equal to v.
func (n *Node) is(v float64) bool {
	if n.op != OpConst {
		return false
	}
	return !slices.ContainsFunc(n.attr.values, func(x float64) bool { return x != v })
}
