package graph

// input is a per-record buffer for a term's X or Index: columns if it can be.
func (c *compiler) input(n *Node) Buf {
	b := c.whole(n, inRecord)
	if k := c.t.Buffers[b].Kind; k == KRecord || k == KColumn {
		return b
	}
	return c.copy(n, b, inRecord)
}

// result is a buffer with exactly n's elements: KGlobal or KRecord.
func (c *compiler) result(n *Node, global bool) Buf {
	in, kind := inRecord, KRecord
	if global {
		in, kind = inGlobal, KGlobal
	}
	b := c.whole(n, in)
	if c.t.Buffers[b].Kind == kind {
		return b
	}
	return c.copy(n, b, in)
}

// copy moves a buffer into one that the list computes.
func (c *compiler) copy(n *Node, from Buf, in list) Buf {
	k := copied{from, in}
	dst, ok := c.copies[k]
	if !ok {
		dst = c.buffer(OpCopy, n.size, in)
		c.emit(in, Instr{Op: OpCopy, Dst: dst, A: Operand{Buf: from}})
		c.copies[k] = dst
	}
	return dst
}

// whole is a buffer with n's elements in order.
func (c *compiler) whole(n *Node, in list) Buf {
	if base, index := viewed(n); index == nil && base.size == n.size {
		return c.compute(base, in)
	}
	n = c.b.vector(n) // views of other shapes with the same elements share a buffer
	switch {
	case n.stage&StageData == 0:
		in = inGlobal
	case in == inRecord && c.isDerived(n):
		return c.derived(n)
	}
	k := place{n, in}
	b, ok := c.bufs[k]
	if !ok && c.permutedStack(n, in) {
		base, index := viewed(n)
		b = c.stack(base, inverse(index), in)
		c.bufs[k] = b
		return b
	}
	if !ok {
		o := c.operand(n, in)
		b = c.buffer(OpCopy, n.size, in)
		c.emit(in, Instr{Op: OpCopy, Dst: b, A: o})
		c.bufs[k] = b
	}
	return b
}

// permutedStack reports whether n is a permuted stack that no node uses in its own order.
// Its parts can then be written directly to their places.
func (c *compiler) permutedStack(n *Node, in list) bool {
	base, index := viewed(n)
	if base.op != OpStack || len(index) != base.size || !distinct(index) {
		return false
	}
	_, computed := c.bufs[place{base, in}]
	return !computed
}

// inverse is the permutation that undoes p.
func inverse(p []int32) []int32 {
	q := make([]int32, len(p))
	for i, j := range p {
		q[j] = int32(i)
	}
	return q
}

// operand reads n in a list; views become maps.
func (c *compiler) operand(n *Node, in list) Operand {
	base, index := viewed(n)
	b := c.compute(base, in)
	if c.t.Buffers[b].Size == 1 {
		index = nil // all elements are the same one
	}
	return Operand{Buf: b, Map: index}
}

// broadcast repeats the one element that a Map picks.
func (o Operand) broadcast(n int) Operand {
	if len(o.Map) != 1 || n == 1 {
		return o
	}
	m := make([]int32, n)
	for i := range m {
		m[i] = o.Map[0]
	}
	o.Map = m
	return o
}

// compute is the buffer of a node; for a new node it emits the instructions. Global
// computes a global node, Derive a data node up to hoisted.
func (c *compiler) compute(n *Node, in list) Buf {
	switch {
	case n.stage&StageData == 0:
		in = inGlobal
	case in == inRecord && c.isDerived(n):
		return c.derived(n)
	}
	if n.op == OpColumn {
		in = inRecord // one buffer serves both lists
	}
	k := place{n, in}
	if b, ok := c.bufs[k]; ok {
		return b
	}
	b := c.instruction(n, in)
	c.bufs[k] = b
	return b
}

// derived is the column block that Derive fills with a data node.
func (c *compiler) derived(n *Node) Buf {
	k := place{n, inRecord}
	if b, ok := c.bufs[k]; ok {
		return b
	}
	o := c.operand(n, inDerive)
	dst := c.add(Buffer{Kind: KColumn, Size: n.size, Offset: c.t.K, Name: n.op.String()})
	c.t.K += n.size
	c.emit(inDerive, Instr{Op: OpCopy, Dst: dst, A: o})
	c.bufs[k] = dst
	return dst
}

// squaredNorm is the derived column for the squared norm of columns.
func (c *compiler) squaredNorm(x Buf) Buf {
	b, ok := c.norms[x]
	if !ok {
		b = c.add(Buffer{Kind: KColumn, Size: 1, Offset: c.t.K, Name: "norm2"})
		c.t.K++
		c.norms[x] = b
	}
	return b
}

// isDerived reports whether a node becomes columns: it depends only on columns and is not
// much larger than they are, such as the one-hot code of a level, or many products make it,
// such as features of an image. Views of many columns do not become columns, and nothing
// does with Options.InStep.
func (c *compiler) isDerived(n *Node) bool {
	if n.stage != StageData || n.op == OpColumn || c.inStep {
		return false
	}
	moved := n.op == OpView || n.op == OpStack
	switch most := c.columnsRead(n); {
	case n.size <= 16, !moved && n.size <= 2*most:
		return true
	case n.op == OpView || n.size > 8*most:
		return false
	}
	const many = 64 // products cost more than reading the value that they make
	return n.products(map[*Node]bool{}) >= many*n.size
}

// products is the number of multiplications of the matrix products behind a node, but for
// those of nodes that were seen.
func (n *Node) products(seen map[*Node]bool) int {
	if seen[n] || n.stage != StageData {
		return 0
	}
	seen[n] = true
	total := 0
	if n.op == OpMatVec {
		total = n.attr.rows * n.attr.cols * n.attr.width
	}
	for _, a := range n.args {
		total += a.products(seen)
	}
	return total
}

// columnsRead is the size of the largest block of columns behind a node.
func (c *compiler) columnsRead(n *Node) int {
	if k, ok := c.reads[n]; ok {
		return k
	}
	k := 0
	if n.op == OpColumn {
		k = n.size
	}
	for _, a := range n.args {
		k = max(k, c.columnsRead(a))
	}
	c.reads[n] = k
	return k
}

func (c *compiler) add(b Buffer) Buf {
	c.t.Buffers = append(c.t.Buffers, b)
	return Buf(len(c.t.Buffers) - 1)
}

// buffer is new memory for the result of op in a list.
func (c *compiler) buffer(op Op, size int, in list) Buf {
	kind := KRecord
	if in == inGlobal {
		kind = KGlobal
	}
	return c.add(Buffer{Kind: kind, Size: size, Name: op.String()})
}

func (c *compiler) emit(in list, i Instr) {
	for k, o := range [...]*Operand{&i.A, &i.B, &i.C} {
		if k >= i.Op.operands() {
			*o = Operand{Buf: NoBuf}
		}
	}
	switch in {
	case inDerive:
		c.t.Derive = append(c.t.Derive, i)
	case inGlobal:
		c.t.Global = append(c.t.Global, i)
	default:
		c.t.Record = append(c.t.Record, i)
	}
}

// instruction emits the instruction that computes a node, and returns its buffer.
func (c *compiler) instruction(n *Node, in list) Buf {
	at := n.attr
	switch n.op {
	case OpConst:
		return c.add(Buffer{Kind: KConst, Size: n.size, Values: at.values, Name: "const"})
	case OpParam:
		return c.add(Buffer{Kind: KParam, Size: n.size, Offset: at.offset, Name: at.name})
	case OpAux:
		kind := KAux
		if at.perRecord {
			kind = KAuxRecord
		}
		return c.add(Buffer{Kind: kind, Size: n.size, Offset: at.offset, Name: at.name})
	case OpColumn:
		return c.add(Buffer{Kind: KColumn, Size: n.size, Offset: at.offset, Name: "column"})
	case OpStop:
		return c.whole(n.args[0], in)
	}
	instr := Instr{Op: n.op, Rows: at.rows, Cols: at.cols, Width: at.width, Trans: at.trans}
	operands := [...]*Operand{&instr.A, &instr.B, &instr.C}
	switch n.op {
	case OpStack:
		return c.stack(n, nil, in)
	case OpSum, OpMaxReduce:
		instr.Into = at.index
		instr.A = c.operand(n.args[0], in)
	case OpMatVec, OpOuter, OpGather, OpScatter:
		for i, a := range n.args {
			operands[i].Buf = c.whole(a, in)
		}
	default:
		for i, a := range n.args {
			*operands[i] = c.operand(a, in).broadcast(n.size)
		}
	}
	instr.Dst = c.buffer(n.op, n.size, in)
	c.emit(in, instr)
	return instr.Dst
}

// stack writes the parts one after the other, or element i to place[i], without gaps.
func (c *compiler) stack(n *Node, place []int32, in list) Buf {
	parts := make([]Operand, len(n.args))
	for i, a := range n.args {
		parts[i] = c.operand(a, in)
	}
	dst := c.buffer(n.op, n.size, in)
	first := 0
	for i, a := range n.args {
		into := make([]int32, a.size)
		for j := range into {
			into[j] = int32(at(place, first+j))
		}
		first += a.size
		c.emit(in, Instr{Op: OpPut, Dst: dst, A: parts[i], Into: into})
	}
	return dst
}
