package graph

// checkForm checks what the comments of Tape, Instr and Term promise engines.
func checkForm(t checker, tape *Tape) {
	t.Helper()
	written := map[Buf]bool{}
	readable := func(o Operand, where string) {
		if o.Buf == NoBuf {
			return
		}
		x := &tape.Buffers[o.Buf]
		if (x.Kind == KGlobal || x.Kind == KRecord || x.Kind == KColumn && x.Offset >= tape.K0) && !written[o.Buf] {
			t.Fatalf("%s reads buffer %d before it is written\n%v", where, o.Buf, tape)
		}
		for _, j := range o.Map {
			if j < 0 || int(j) >= x.Size {
				t.Fatalf("%s reads element %d of buffer %d, size %d", where, j, o.Buf, x.Size)
			}
		}
	}
	checkList(t, tape, "derive", tape.Derive, readable, written)
	checkList(t, tape, "global", tape.Global, readable, written)
	checkList(t, tape, "record", tape.Record, readable, written)
	for i, x := range tape.Terms {
		delta := tape.Buffers[x.Delta]
		if delta.Kind != KRecord && (delta.Kind != KGlobal || tape.Loss != NoBuf && tape.Buffers[tape.Loss].Kind == KRecord) {
			t.Fatalf("term %d: delta is %v", i, delta.Kind)
		}
		size := x.Cols * x.Width
		if x.Kind == TermDense {
			size = x.Rows * x.Cols
		}
		if delta.Size != size || x.Width < 1 || x.Width > 1 && x.Kind == TermDense {
			t.Fatalf("term %d: delta has size %d, want %d (width %d)", i, delta.Size, size, x.Width)
		}
		for _, f := range []struct {
			b    Buf
			has  bool
			size int
		}{{x.X, x.Kind == TermOuter, x.Rows * x.Width}, {x.Index, x.Kind == TermScatter, x.Width}, {x.XNorm2, x.XNorm2 != NoBuf, 1}} {
			if f.has != (f.b != NoBuf) {
				t.Fatalf("term %d (%v): %+v", i, x.Kind, x)
			}
			if !f.has {
				continue
			}
			if y := tape.Buffers[f.b]; y.Size != f.size || y.Kind != KRecord && y.Kind != KColumn {
				t.Fatalf("term %d: buffer %+v, want size %d", i, y, f.size)
			}
		}
		if x.XNorm2 != NoBuf && (tape.Buffers[x.XNorm2].Kind != KColumn || tape.Buffers[x.X].Kind != KColumn || written[x.XNorm2]) {
			t.Fatalf("term %d: XNorm2 is %+v of %+v, want a column of columns that no instruction writes", i, tape.Buffers[x.XNorm2], tape.Buffers[x.X])
		}
	}
	for j := range tape.Terms {
		for i := range j {
			checkPair(t, tape, i, j)
		}
	}
}

func checkList(t checker, tape *Tape, where string, list []Instr, readable func(Operand, string), written map[Buf]bool) {
	t.Helper()
	for i, in := range list {
		for _, o := range []Operand{in.A, in.B, in.C} {
			readable(o, where)
			if o.Buf == in.Dst {
				t.Fatalf("%s %d: %v writes its operand", where, i, in.Op)
			}
			if o.Map != nil && (in.Op == OpMatVec || in.Op == OpOuter || in.Op == OpGather || in.Op == OpScatter) {
				t.Fatalf("%s %d: %v has a map", where, i, in.Op)
			}
			if o.Buf != NoBuf && where == "global" && tape.Buffers[o.Buf].Kind.PerRecord() {
				t.Fatalf("%s %d: %v reads per-record buffer %d", where, i, in.Op, o.Buf)
			}
		}
		if in.Op == OpMatVec && tape.Buffers[in.A.Buf].Kind.PerRecord() {
			t.Fatalf("%s %d: the matrix of a matvec is per record", where, i)
		}
		if in.Op == OpMatVec || in.Op == OpOuter || in.Op == OpGather || in.Op == OpScatter {
			if in.Width < 1 {
				t.Fatalf("%s %d: width %d", where, i, in.Width)
			}
		}
		written[in.Dst] = true
	}
}

// checkPair checks that overlapping terms are in Cross, and no others.
func checkPair(t checker, tape *Tape, i, j int) {
	t.Helper()
	x, y := tape.Terms[i], tape.Terms[j]
	touched := map[int]bool{}
	for r := range x.Rows {
		for c := range x.Cols {
			k := x.Param + r*x.RowStride + c*x.ColStride
			if touched[k] {
				t.Fatalf("term %d touches parameter %d twice", i, k)
			}
			touched[k] = true
		}
	}
	overlap := false
	for r := range y.Rows {
		for c := range y.Cols {
			overlap = overlap || touched[y.Param+r*y.RowStride+c*y.ColStride]
		}
	}
	listed := false
	for _, p := range tape.Cross {
		listed = listed || p.I == i && p.J == j
	}
	if overlap != listed {
		t.Fatalf("terms %d and %d: overlap %v, in Cross %v", i, j, overlap, listed)
	}
	if overlap && (x.Kind == TermDense || y.Kind == TermDense || x.Param != y.Param || x.Rows != y.Rows ||
		x.Cols != y.Cols || x.RowStride != y.RowStride || x.ColStride != y.ColStride) {
		t.Fatalf("terms %d and %d overlap with different layouts: %+v %+v", i, j, x, y)
	}
}
