package graph

// foldNode evaluates a node that is not element-wise but made of constants.
func (b *Builder) foldNode(n *Node) *Node {
	for _, a := range n.args {
		if a.op != OpConst {
			return n
		}
	}
	if len(n.args) == 0 {
		return n
	}
	v := make([]float64, n.size)
	in := Instr{Op: n.op, Into: n.attr.index, Rows: n.attr.rows, Cols: n.attr.cols, Width: n.attr.width, Trans: n.attr.trans}
	var args [3]lanes
	for i, a := range n.args {
		args[i] = lanes{values: a.attr.values, size: a.size, element: 1}
	}
	in.run(v, args, 1)
	return b.intern(OpConst, n.shape, StageConst, nil, attr{values: v})
}
