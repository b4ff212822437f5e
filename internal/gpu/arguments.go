package gpu

import "unsafe"

// The structures of kernel/program.h, field by field; it explains them.

type operand struct{ space, at, step, index int32 }

type instr struct {
	op, dst, size, count                      int32
	a, b, c                                   operand
	into, rows, cols, width, rowStep, colStep int32
	waits, chain                              int32
}

type column struct{ offset, size, at, drawn int32 }

type dot struct{ p, q, count, kind int32 }

type term struct {
	kind, parameter, rows, cols, rowStride, colStride int32
	delta, x, xInRows, index, xNorm2                  int32
	delta2, delta2End, x2, x2End, width               int32
}

type pair struct {
	i, j, delta, deltaEnd, x, xEnd, whole int32
	_                                     int32
}

// slot is struct Slot.
type slot struct{ at, size, list int32 }

type arguments struct {
	constants, parameters, aux, globals        address
	indices                                    address
	global, record                             address
	columns, dots, terms, pairs                address
	table, valid                               address
	stride                                     int64
	packed, lists                              address
	batch, noiseKeys                           address
	step                                       uint64
	first, size                                int64
	lanes, partial, counts                     address
	sum, count                                 address
	waiting                                    address
	clipNorm, clipGamma, slack                 float64
	globalCount, recordCount, columnCount      int32
	dotCount, termCount, pairCount             int32
	parameterCount, noiseCount, lanesPerRecord int32
	chunk, slots, clipKind, single, fresh      int32
	dotLanes, factorLanes, wide, longest       int32
	partition, longDots                        int32
	indexCount, _                              int32
}

// batchNetwork is struct Network of kernel/network.h.
type batchNetwork struct {
	keys, tables address
	firstBlock   uint64
	left, right  uint16
	blocks       int32
}

// run is struct Run of kernel/run.h.
type run struct {
	tape, propose, prior, absorb                    arguments
	state, now, next, aux, kept                     address
	inputs, words, keys                             address
	firstStep                                       int64
	offsets, places                                 address
	network                                         batchNetwork
	records                                         int64
	status, unresolved                              address
	gradientNoise, widened, countNoise, countTarget float64
	one                                             address
	steps, stateCount, inputCount, wordCount        int32
	clipNormAt, keptCount, resumes, direct          int32
	first, early                                    int32
}

// runs are the arguments of the kernel that takes steps.
type runs struct {
	runs   address
	blocks int32 // of one run
}

// The same check as the static_assert of kernel/program.h.
var (
	_ [96]struct{}   = [unsafe.Sizeof(instr{})]struct{}{}
	_ [64]struct{}   = [unsafe.Sizeof(term{})]struct{}{}
	_ [32]struct{}   = [unsafe.Sizeof(pair{})]struct{}{}
	_ [1536]struct{} = [unsafe.Sizeof(run{})]struct{}{}
	_ [328]struct{}  = [unsafe.Sizeof(arguments{})]struct{}{}
	_ [12]struct{}   = [unsafe.Sizeof(slot{})]struct{}{}
)

// elements are the arguments of the kernel that evaluates one operation.
type elements struct {
	x, y, z, to address
	op, n       int32
}

// Spaces of operands, kinds of dots and of clipping.
const (
	inConstants int32 = iota
	inParameters
	inAux
	inGlobals
	inLanes
	inRows
	inSlots
	inNeutral
)

// nowhere is where a result is that only the next instruction of a chain reads.
const nowhere = -1 << 30

const (
	dotProduct int32 = iota
	dotGram
	dotElements
	dotSize
	dotLong
)

const (
	clipFlat int32 = iota
	clipAutomatic
	clipNone
)
