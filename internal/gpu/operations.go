package gpu

import "d3p/internal/models/graph"

//go:generate go test -run TestOpcodes . -update

// opRowMatVec is a MatVec whose second operand is read from the table in place; every
// other operation has the number that package graph gives it. kernel/opcodes.h lists them
// for the kernels.
const opRowMatVec = int32(graph.NumOps)
