package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Builder makes the nodes of one graph. Its constructors never panic on a
// wrong shape or stage: they report it through Err and return a bad node.
// A Builder is not safe for concurrent use.
type Builder struct {
	nodes  map[string]*Node // by exact content
	lists  map[string]int   // index lists and constants by exact content
	key    []byte
	nextID int
	params []ParamInfo
	leaves map[string]*Node // Param and Aux by name
	p      int
	aux    [2]int // global, per record
	err    error
	poison *Node
}

// NewBuilder returns a Builder with no nodes.
func NewBuilder() *Builder {
	b := &Builder{nodes: map[string]*Node{}, lists: map[string]int{}, leaves: map[string]*Node{}}
	b.poison = &Node{op: OpConst, size: 1, bad: true, attr: attr{values: []float64{math.NaN()}}}
	return b
}

// Err is the first misuse since the last TakeErr: operation and dimensions, without a
// position, which the caller has.
func (b *Builder) Err() error { return b.err }

// TakeErr returns Err and clears it, so that the builder can continue and report the next
// mistake.
func (b *Builder) TakeErr() error {
	err := b.err
	b.err = nil
	return err
}

func (b *Builder) fail(op, format string, args ...any) *Node {
	if b.err == nil {
		b.err = fmt.Errorf("%s: %s", op, fmt.Sprintf(format, args...))
	}
	return b.poison
}

// anyBad reports whether an argument is nil or comes from a misuse that has been
// reported already.
func anyBad(args ...*Node) bool {
	return slices.ContainsFunc(args, func(a *Node) bool { return a == nil || a.bad })
}

// list numbers a byte string by its content.
func (b *Builder) list(s []byte) uint64 {
	n, ok := b.lists[string(s)]
	if !ok {
		n = len(b.lists)
		b.lists[string(s)] = n
	}
	return uint64(n)
}

// intern returns the one node with this op, shape, arguments and attributes. The key is
// their exact content, not a hash, so different nodes never share a key.
func (b *Builder) intern(op Op, shape Shape, stage Stage, args []*Node, a attr) *Node {
	var lists [2]uint64
	if a.values != nil {
		buf := make([]byte, 0, 1+8*len(a.values))
		buf = append(buf, 'v')
		for _, v := range a.values {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		lists[0] = 1 + b.list(buf)
	}
	if a.index != nil {
		buf := make([]byte, 0, 1+4*len(a.index))
		buf = append(buf, 'i')
		for _, v := range a.index {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(v))
		}
		lists[1] = 1 + b.list(buf)
	}
	k := append(b.key[:0], byte(op), byte(len(args)))
	for _, x := range args {
		k = binary.AppendUvarint(k, uint64(x.id))
	}
	for _, d := range shape {
		k = binary.AppendUvarint(k, uint64(len(d.Name)))
		k = append(k, d.Name...)
		k = binary.AppendUvarint(k, uint64(d.Size))
	}
	k = append(k, 0xff, byte(indicator(a.trans)), byte(indicator(a.perRecord)))
	for _, v := range [...]uint64{lists[0], lists[1], uint64(a.offset), uint64(a.rows), uint64(a.cols), uint64(a.width)} {
		k = binary.AppendUvarint(k, v)
	}
	k = append(k, a.name...)
	b.key = k
	if n, ok := b.nodes[string(k)]; ok {
		return n
	}
	n := &Node{id: b.nextID, op: op, shape: shape, stage: stage, args: args, attr: a, size: shape.Size()}
	b.nextID++
	b.nodes[string(k)] = n
	return n
}

// Const is a scalar constant.
func (b *Builder) Const(v float64) *Node {
	return b.intern(OpConst, nil, StageConst, nil, attr{values: []float64{v}})
}

// Consts is a constant array, row-major.
func (b *Builder) Consts(s Shape, values []float64) *Node {
	if err := s.check(); err != nil {
		return b.fail("constant", "%v", err)
	}
	if len(values) != s.Size() {
		return b.fail("constant", "%d values for shape %v, want %d", len(values), s, s.Size())
	}
	return b.intern(OpConst, s, StageConst, nil, attr{values: slices.Clone(values)})
}

// Param is a leaf of unconstrained parameters. It takes the next s.Size()
// scalars of θ; the same name with the same shape is the same leaf.
func (b *Builder) Param(name string, s Shape) *Node {
	if err := s.check(); err != nil {
		return b.fail("param "+name, "%v", err)
	}
	if n, ok := b.leaves[name]; ok {
		if n.op != OpParam || !slices.Equal(n.shape, s) {
			return b.fail("param "+name, "declared twice, as %v and as %v", n.shape, s)
		}
		return n
	}
	n := b.intern(OpParam, s, StageGlobal, nil, attr{name: name, offset: b.p})
	b.params = append(b.params, ParamInfo{Name: name, Shape: s, Offset: b.p})
	b.leaves[name] = n
	b.p += n.size
	return n
}

// Aux is a leaf of noise fed from outside, one draw per step or, if
// perRecord, one per record and step. No gradient flows to it.
func (b *Builder) Aux(name string, s Shape, perRecord bool) *Node {
	if err := s.check(); err != nil {
		return b.fail("aux "+name, "%v", err)
	}
	if n, ok := b.leaves[name]; ok {
		if n.op != OpAux || n.attr.perRecord != perRecord || !slices.Equal(n.shape, s) {
			return b.fail("aux "+name, "declared twice, differently: as %v %v and as %v", n.op, n.shape, s)
		}
		return n
	}
	stage, i := StageGlobal, 0
	if perRecord {
		stage, i = StageRecord, 1
	}
	n := b.intern(OpAux, s, stage, nil, attr{name: name, offset: b.aux[i], perRecord: perRecord})
	b.leaves[name] = n
	b.aux[i] += n.size
	return n
}

// Column is column j of the encoded record, a scalar per record.
func (b *Builder) Column(j int) *Node {
	if j < 0 {
		return b.fail("column", "index %d is negative", j)
	}
	return b.intern(OpColumn, nil, StageData, nil, attr{offset: j})
}

// Columns are columns j .. j+d.Size-1 of the encoded record, a vector.
func (b *Builder) Columns(j int, d Dim) *Node {
	s := Shape{d}
	if err := s.check(); err != nil {
		return b.fail("columns", "%v", err)
	}
	if j < 0 {
		return b.fail("columns", "index %d is negative", j)
	}
	return b.intern(OpColumn, s, StageData, nil, attr{offset: j})
}
