// Package graph is the typed intermediate representation of densities: nodes
// with named dimensions, exact hash-consing, reverse mode with structured
// per-record gradients, and the compiler to a flat Tape.
//
// Letters: B records in a batch, K columns of an encoded record, P
// unconstrained parameters.
package graph

import (
	"fmt"
	"slices"
	"strings"
)

// A Stage is the kind of values that a value depends on. It decides how often the value is
// computed.
type Stage uint8

// Stages form a lattice: the stage of a node is the Join of its arguments'.
const (
	StageConst  Stage = 0                       // no values: folded while building
	StageGlobal Stage = 1                       // parameters or global noise: once per step
	StageData   Stage = 2                       // columns: once per fit
	StageRecord Stage = StageGlobal | StageData // both: once per record and step
)

// Join is the least stage that depends on everything s and t depend on.
func (s Stage) Join(t Stage) Stage { return s | t }

// String names the stage.
func (s Stage) String() string {
	return [...]string{"const", "global", "data", "record"}[s&3]
}

// A Dim is a named dimension.
type Dim struct {
	Name string
	Size int
}

// A Shape is an ordered list of dimensions, stored row-major (the last one
// varies fastest); nil is a scalar. A name occurs at most once.
type Shape []Dim

// Size is the number of elements.
func (s Shape) Size() int {
	n := 1
	for _, d := range s {
		n *= d.Size
	}
	return n
}

// Sizes are the sizes of the dimensions.
func (s Shape) Sizes() []int {
	list := make([]int, len(s))
	for i, d := range s {
		list[i] = d.Size
	}
	return list
}

// Index is the position of the named dimension, or -1.
func (s Shape) Index(name string) int {
	return slices.IndexFunc(s, func(d Dim) bool { return d.Name == name })
}

// String prints the shape as the language writes it: "[hospital 20, re 2]".
func (s Shape) String() string {
	if len(s) == 0 {
		return "scalar"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = fmt.Sprintf("%s %d", d.Name, d.Size)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// strides are the distances between neighbours in each dimension.
func (s Shape) strides() []int {
	st := make([]int, len(s))
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		st[i] = n
		n *= s[i].Size
	}
	return st
}

// check reports a repeated name or a size below one.
func (s Shape) check() error {
	for i, d := range s {
		if d.Size < 1 {
			return fmt.Errorf("dimension %s has size %d, want at least 1", d.Name, d.Size)
		}
		if s[:i].Index(d.Name) >= 0 {
			return fmt.Errorf("dimension %s occurs twice in %v (rename one of them)", d.Name, s)
		}
	}
	return nil
}

// walk calls f with the flat position in each of several layouts, for every
// element of s in row-major order; layouts[j][i] is the stride of s[i] in
// layout j.
func (s Shape) walk(f func(i int, at []int), layouts ...[]int) {
	at := make([]int, len(layouts))
	index := make([]int, len(s))
	for i, n := 0, s.Size(); i < n; i++ {
		f(i, at)
		for d := len(s) - 1; d >= 0; d-- {
			index[d]++
			for j, l := range layouts {
				at[j] += l[d]
			}
			if index[d] < s[d].Size {
				break
			}
			for j, l := range layouts {
				at[j] -= l[d] * s[d].Size
			}
			index[d] = 0
		}
	}
}

// stridesIn are the strides of s's dimensions inside layout t, matched by
// name; 0 (broadcast) for a dimension t lacks.
func (s Shape) stridesIn(t Shape) []int {
	ts := t.strides()
	st := make([]int, len(s))
	for i, d := range s {
		if j := t.Index(d.Name); j >= 0 {
			st[i] = ts[j]
		}
	}
	return st
}
