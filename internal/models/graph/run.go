package graph

import (
	"math"

	"d3p/internal/simd"
)

// lanes is an operand in memory: element i of record b is at
// i·element + b·record of values.
type lanes struct {
	values          []float64
	index           []int32 // Operand.Map
	size            int     // elements of the buffer
	element, record int
}

// at is the begin of operand element i.
func (l *lanes) at(i int) int {
	switch {
	case l.index != nil:
		return int(l.index[i]) * l.element
	case l.size == 1:
		return 0
	}
	return i * l.element
}

// run executes an instruction for B records; dst is in lanes: element i of
// record b at i·B + b.
func (in *Instr) run(dst []float64, args *[3]lanes, B int) {
	a, b := &args[0], &args[1]
	switch in.Op {
	case OpPut:
		for i, j := range in.Into {
			copyLane(dst[int(j)*B:][:B], a.values[a.at(i):], a.record)
		}
	case OpSum:
		clear(dst)
		for i, j := range in.Into {
			d, x := dst[int(j)*B:][:B], a.values[a.at(i):]
			for r := range d {
				d[r] += x[r*a.record]
			}
		}
	case OpCopy:
		for i := range len(dst) / B {
			copyLane(dst[i*B:][:B], a.values[a.at(i):], a.record)
		}
	case OpMaxReduce:
		for i := range dst {
			dst[i] = math.Inf(-1)
		}
		for i, j := range in.Into {
			d, x := dst[int(j)*B:][:B], a.values[a.at(i):]
			for r := range d {
				d[r] = math.Max(d[r], x[r*a.record])
			}
		}
	case OpMatVec:
		in.runMatVec(dst, a, b, B)
	case OpOuter:
		in.runOuter(dst, a, b, B)
	case OpGather:
		in.runGather(dst, a, b, B)
	case OpScatter:
		in.runScatter(dst, a, b, B)
	default:
		in.runElementwise(dst, args, B)
	}
}

func (in *Instr) runGather(dst []float64, a, index *lanes, B int) {
	for r := range B {
		for w := range in.Width {
			k := row(index.values[w*index.element+r*index.record], in.Rows)
			for i := range in.Cols {
				v := math.NaN()
				if k >= 0 {
					v = a.values[(k*in.Cols+i)*a.element+r*a.record]
				}
				dst[(i*in.Width+w)*B+r] = v
			}
		}
	}
}

func (in *Instr) runScatter(dst []float64, a, index *lanes, B int) {
	clear(dst)
	for r := range B {
		for w := range in.Width {
			k := row(index.values[w*index.element+r*index.record], in.Rows)
			for i := 0; k < 0 && i < in.Rows*in.Cols; i++ {
				dst[i*B+r] = math.NaN()
			}
			for i := 0; k >= 0 && i < in.Cols; i++ {
				dst[(k*in.Cols+i)*B+r] += a.values[(i*in.Width+w)*a.element+r*a.record]
			}
		}
	}
}

// row is the index that x means, or -1 if it is not in 0..rows-1.
func row(x float64, rows int) int {
	if x > -1 && x < float64(rows) {
		return int(x)
	}
	return -1
}

func copyLane(dst, x []float64, stride int) {
	if stride == 1 {
		copy(dst, x)
		return
	}
	for r := range dst {
		dst[r] = x[r*stride]
	}
}

// runMatVec sums in order of c for every result, as defined, whatever lies side by side in
// memory.
func (in *Instr) runMatVec(dst []float64, w, x *lanes, B int) {
	if in.Width == 1 && x.element == 1 && !in.Trans {
		in.runDots(dst, w.values, x, B)
		return
	}
	clear(dst)
	if in.Width == 1 && B == 1 && in.Trans {
		for c := range in.Cols {
			simd.Axpy(dst[:in.Rows], x.values[c*x.element], w.values[c*in.Rows:])
		}
		return
	}
	rs, cs := in.Cols, 1
	if in.Trans {
		rs, cs = 1, in.Rows
	}
	for r := range in.Rows {
		for k := range in.Width {
			d, c := dst[(r*in.Width+k)*B:][:B], 0
			if x.record == 1 {
				at := func(c int) []float64 { return x.values[(c*in.Width+k)*x.element:][:B] }
				for ; c+4 <= in.Cols; c += 4 {
					w0, w1, w2, w3 := w.values[r*rs+c*cs], w.values[r*rs+(c+1)*cs], w.values[r*rs+(c+2)*cs], w.values[r*rs+(c+3)*cs]
					x0, x1, x2, x3 := at(c), at(c+1), at(c+2), at(c+3)
					for b, s := range d {
						s += w0 * x0[b]
						s += w1 * x1[b]
						s += w2 * x2[b]
						s += w3 * x3[b]
						d[b] = s
					}
				}
			}
			for ; c < in.Cols; c++ {
				wrc := w.values[r*rs+c*cs]
				xc := x.values[(c*in.Width+k)*x.element:]
				for b := range d {
					d[b] += wrc * xc[b*x.record]
				}
			}
		}
	}
}

// runDots is a matrix times vectors with contiguous elements. Four sums at a time do not
// wait for each other; each adds in the order of the columns.
func (in *Instr) runDots(dst, w []float64, x *lanes, B int) {
	at := func(b int) []float64 { return x.values[b*x.record:][:in.Cols] }
	for r := range in.Rows {
		b, wr := 0, w[r*in.Cols:][:in.Cols]
		for ; b+4 <= B; b += 4 {
			x0, x1, x2, x3 := at(b), at(b+1), at(b+2), at(b+3)
			var s0, s1, s2, s3 float64
			for c, v := range wr {
				s0 += v * x0[c]
				s1 += v * x1[c]
				s2 += v * x2[c]
				s3 += v * x3[c]
			}
			d := dst[r*B+b:][:4]
			d[0], d[1], d[2], d[3] = s0, s1, s2, s3
		}
		for ; b < B; b++ {
			dst[r*B+b] = dot(wr, at(b))
		}
	}
}

// dot is the sum of products, in order.
func dot(x, y []float64) (s float64) {
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func (in *Instr) runOuter(dst []float64, x, y *lanes, B int) {
	clear(dst)
	for r := range in.Rows {
		for c := range in.Cols {
			d := dst[(r*in.Cols+c)*B:][:B]
			for k := range in.Width {
				xr := x.values[(r*in.Width+k)*x.element:]
				yc := y.values[(c*in.Width+k)*y.element:]
				for b := range d {
					d[b] += xr[b*x.record] * yc[b*y.record]
				}
			}
		}
	}
}

// runElementwise loops over records for each element or, for one record and
// operands without a Map, over the elements.
func (in *Instr) runElementwise(dst []float64, args *[3]lanes, B int) {
	arity := in.Op.Arity()
	flat := B == 1
	for k := range arity {
		flat = flat && args[k].index == nil
	}
	if flat {
		var l [3]strided
		for k := range arity {
			l[k] = strided{args[k].values, args[k].element}
			if args[k].size == 1 {
				l[k].step = 0
			}
		}
		loop(in.Op, dst, l[0], l[1], l[2])
		return
	}
	for i := 0; i*B < len(dst); i++ {
		var l [3]strided
		for k := range arity {
			l[k] = strided{args[k].values[args[k].at(i):], args[k].record}
		}
		loop(in.Op, dst[i*B:][:B], l[0], l[1], l[2])
	}
}

// strided is a vector with a distance between its elements.
type strided struct {
	v    []float64
	step int
}

// loop applies an element-wise op to vectors.
func loop(op Op, d []float64, x, y, z strided) {
	switch op {
	case OpCopy:
		copyLane(d, x.v, x.step)
	case OpAdd:
		for i := range d {
			d[i] = x.v[i*x.step] + y.v[i*y.step]
		}
	case OpSub:
		for i := range d {
			d[i] = x.v[i*x.step] - y.v[i*y.step]
		}
	case OpMul:
		for i := range d {
			d[i] = x.v[i*x.step] * y.v[i*y.step]
		}
	case OpNeg:
		for i := range d {
			d[i] = -x.v[i*x.step]
		}
	case OpSquare:
		for i := range d {
			d[i] = x.v[i*x.step] * x.v[i*x.step]
		}
	default:
		switch info := &ops[op]; info.arity {
		case 1:
			for i := range d {
				d[i] = info.f1(x.v[i*x.step])
			}
		case 2:
			for i := range d {
				d[i] = info.f2(x.v[i*x.step], y.v[i*y.step])
			}
		case 3:
			for i := range d {
				d[i] = info.f3(x.v[i*x.step], y.v[i*y.step], z.v[i*z.step])
			}
		default:
			panic("graph: cannot run " + op.String())
		}
	}
}
