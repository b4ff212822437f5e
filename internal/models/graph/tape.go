package graph

// A Tape is a compiled density and its gradient: data only, read by every
// engine. Per-record buffers are [Size × B] with the batch contiguous: element
// i of record b is at i·B + b.
//
// An engine runs Derive once per fit (it fills the derived columns), Global
// once per step, and Record once per batch. The gradient of record b with
// respect to θ is then the SUM of Terms; clipping needs only their norms and
// the pairs in Cross (see Term).
type Tape struct {
	P  int // scalars in θ
	K0 int // columns of an encoded record
	K  int // K0 plus derived columns

	// AuxGlobal and AuxRecord are the number of scalars that Aux leaves take
	// from outside: once per step, and per record and step.
	AuxGlobal, AuxRecord int

	Buffers []Buffer
	Derive  []Instr // per record, once per fit: reads columns, fills columns K0..K-1 but for each XNorm2
	Global  []Instr // once per step: every operand is const, param, aux or global
	Record  []Instr // once per batch: forward, then backward
	// Gradient is the number of instructions of Record, from the first, that Terms
	// need; the others serve only the loss and the outputs.
	Gradient int

	Terms []Term
	Cross []Pair // pairs of terms that share parameters

	Loss    Buf // KRecord or KGlobal scalar; NoBuf if Options.GradientOnly or no loss
	Outputs []Buf

	Params []ParamInfo // in order of declaration, without gaps
	Notes  []string    // the places at which a gradient lost its structure, with the reasons
}

// ParamInfo locates one Param leaf in θ.
type ParamInfo struct {
	Name   string
	Shape  Shape
	Offset int
}

// A Buf indexes Tape.Buffers.
type Buf int32

// NoBuf is the absent buffer.
const NoBuf Buf = -1

// A Kind is the place of a buffer's values.
type Kind uint8

// Kinds of buffer.
const (
	KConst     Kind = iota // Values, fixed
	KParam                 // θ[Offset : Offset+Size]
	KAux                   // global noise aux[Offset : Offset+Size], from outside
	KAuxRecord             // per-record noise, element i at (Offset+i)·B + b, from outside
	KColumn                // columns Offset .. Offset+Size-1 of the (encoded, extended) row
	KGlobal                // computed by Global, one value per step
	KRecord                // computed by Record (or Derive), [Size × B]
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"const", "param", "aux", "aux_record", "column", "global", "record"}[k]
}

// PerRecord reports whether the buffer has one value for each record.
func (k Kind) PerRecord() bool { return k == KAuxRecord || k == KColumn || k == KRecord }

// A Buffer is a place for Size values, or Size values per record.
type Buffer struct {
	Kind   Kind
	Size   int
	Offset int       // KParam: in θ; KAux, KAuxRecord: in aux; KColumn: first column
	Values []float64 // KConst
	Name   string    // for listings: a leaf's name, else the op
}

// An Operand reads a buffer: element i of the operand is element Map[i] of
// the buffer; without a Map it is element i, or element 0 when the buffer has
// size 1.
type Operand struct {
	Buf Buf
	Map []int32
}

// Index is the buffer element that operand element i reads.
func (o Operand) Index(i, size int) int {
	switch {
	case o.Map != nil:
		return int(o.Map[i])
	case size == 1:
		return 0
	}
	return i
}

// An Instr computes one buffer (OpPut: part of one). With n the size of Dst
// and A(i), B(i), C(i) operand elements:
//
//	element-wise   Dst[i] = Op(A(i), B(i), C(i)), i < n; Op.Arity operands
//	OpPut          Dst[Into[i]] = A(i), i < len(Into); others keep their value
//	               (the puts of one Dst follow each other and cover it)
//	OpSum          Dst = 0; then Dst[Into[i]] += A(i) in order of i
//	OpMaxReduce    Dst = -Inf; then Dst[Into[i]] = max(Dst[Into[i]], A(i))
//	OpMatVec       Dst[r·Width + w] = Σ_c W[r, c] · B[c·Width + w], r < Rows,
//	               c < Cols. W is A: const, param, aux or global, row-major Rows×Cols;
//	               if Trans it is stored Cols×Rows. Neither operand has a Map.
//	               In lanes this is one GEMM [Rows×Cols]·[Cols×(Width·B)].
//	OpOuter        Dst[r·Cols + c] = Σ_w A[r·Width + w] · B[c·Width + w]; no Maps
//	OpGather       Dst[i·Width + w] = A[k·Cols + i], i < Cols, w < Width, k = B[w]
//	               truncated; NaN when k is not in 0..Rows-1. No Maps.
//	OpScatter      Dst = 0 (size Rows·Cols); then for w < Width in order
//	               Dst[k·Cols + i] += A[i·Width + w], i < Cols, k = B[w]; all of
//	               Dst is NaN when a k is not in 0..Rows-1. No Maps.
//
// In Global, B = 1 for every op. Dst never is one of the operands.
type Instr struct {
	Op                Op
	Dst               Buf
	A, B, C           Operand
	Into              []int32 // OpPut, OpSum, OpMaxReduce
	Rows, Cols, Width int     // OpMatVec, OpOuter, OpGather, OpScatter
	Trans             bool    // OpMatVec
}

// Operands are A, B and C; those that the operation does not have are NoBuf.
func (i *Instr) Operands() [3]Operand {
	o := [3]Operand{i.A, i.B, i.C}
	for k := i.Op.operands(); k < len(o); k++ {
		o[k] = Operand{Buf: NoBuf}
	}
	return o
}

// TermKind is the structure of a Term.
type TermKind uint8

// Kinds of term; (r, c) with r < Rows, c < Cols is an element's index, and w <
// Width one of the places of a record that share the parameters, such as the
// positions of an image under a convolution. X_w is column w of X, seen as a
// Rows×Width matrix, and Delta_w that of Delta, Cols×Width.
//
//	dense    element (r, c) is Delta[r·Cols + c]; Width is 1
//	         norm² = Σ Delta²
//	outer    element (r, c) is Σ_w X[r·Width + w]·Delta[c·Width + w]
//	         norm² = Σ_w,v (X_w·X_v)(Delta_w·Delta_v): for Width 1 |X|²|Delta|²
//	scatter  Delta[c·Width + w] is added to element (Index[w], c), w < Width
//	         norm² = Σ_w,v [Index[w] = Index[v]] (Delta_w·Delta_v); Width 1: |Delta|²
//
// In lanes the sum Σ_b f_b g_b of an outer term over B records is one GEMM
// [Rows × Width·B]·[Width·B × Cols] of X and the weighted Delta.
const (
	TermDense TermKind = iota
	TermOuter
	TermScatter
)

// String names the kind.
func (k TermKind) String() string { return [...]string{"dense", "outer", "scatter"}[k] }

// A Term is part of the gradient of every record: element (r, c) adds to
// θ[Param + r·RowStride + c·ColStride], all different. An Index out of range
// makes the record's gradient non-finite.
//
// Terms in no Pair touch disjoint parameters, so their squared norms add up.
// A Pair has identical Param, Rows, Cols, RowStride and ColStride (Width may
// differ), and neither term is dense; its inner product is the sum over w <
// Width and v < Width′ of
//
//	outer·outer      (X_w·X′_v)(Delta_w·Delta′_v)
//	scatter·scatter  [Index[w] = Index′[v]] (Delta_w·Delta′_v)
//	outer·scatter    X[Index′[v]·Width + w] (Delta_w·Delta′_v)
//
// Buffers: Delta is KRecord (KGlobal when the loss is global); X and Index are
// KRecord or KColumn.
type Term struct {
	Kind                 TermKind
	Param                int // offset in θ of element (0, 0)
	Rows, Cols, Width    int
	RowStride, ColStride int
	Delta                Buf // Cols·Width
	X                    Buf // TermOuter, Rows·Width
	Index                Buf // TermScatter, Width
	// XNorm2 is a derived column for |X|² if X is columns and Width is 1, else NoBuf.
	// Derive leaves it out: the owner of a stored, perhaps rounded X computes the square of
	// the stored numbers.
	XNorm2 Buf
	// Gram is the cheaper way to the norm of an outer term of Width above 1: true by the
	// Gram matrices above, false by writing out the elements, one record at a time.
	// Either gives the same.
	Gram bool
}

// A Pair are the indices, I < J, of two terms that share parameters. Gram has the same
// meaning for two outer terms as for one.
type Pair struct {
	I, J int
	Gram bool
}

// Untouched lists the scalars of θ, ascending, that are in no term: no record can have a gradient in them.
func (t *Tape) Untouched() []int {
	touched := make([]bool, t.P)
	for _, term := range t.Terms {
		for r := range term.Rows {
			for c := range term.Cols {
				touched[term.Param+r*term.RowStride+c*term.ColStride] = true
			}
		}
	}
	var list []int
	for j, is := range touched {
		if !is {
			list = append(list, j)
		}
	}
	return list
}
