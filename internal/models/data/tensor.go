package data

import (
	"bytes"
	"strconv"

	"d3p/internal/models/source"
)

// Tensor declares columns that together are one array: an image, a spectrum.
// All share their bounds and scale.
type Tensor struct {
	Name         source.Value[string]
	From         source.Value[string]   // columns("px0".."px783"); unset: columns("NAME0".."NAMEn")
	Dims         []source.Value[string] // of the array; they are dims of the model
	Shape        []source.Value[int]
	Lower, Upper source.Value[float64]
	Center, By   source.Value[float64]
	Type         source.Value[string] // of the numbers: Real, the default, or Integer
	Source       source.Value[string]
	// Binarize turns every value x in [0, 1] into 0 or 1: stochastic is 1 with
	// probability x, drawn anew in every step; threshold is 1 from a half on.
	Binarize source.Value[string]

	// Text turns a column of text, From, into tokens, one for each element: Bytes, or the
	// public file of a vocabulary; unset for numbers.
	Text source.Value[string]
	// Words is the public file of a vocabulary if the cells of the column From are lists of
	// its tokens.
	Words      source.Value[string]
	Vocabulary []string // of one of these files, in its order

	// Tokens is the number of tokens if the cells of the column From are lists of whole
	// numbers below it.
	Tokens source.Value[int]

	Columns []*Column // in row-major order; of a sequence, one for each token
}

// Bytes makes every byte of a text a token.
const Bytes = "bytes"

// Padding is the token beyond the end of a text, Unknown that of a word which the
// vocabulary lacks. The words of the vocabulary have the next tokens, in its order. Tokens
// of bytes follow Padding.
const (
	Padding = 0
	Unknown = 1
)

// Names of a sequence's numbers besides its tokens: their number in a record, and the dim
// of all possible tokens.
const (
	LengthSuffix = "_length"
	LevelsSuffix = "_levels"
)

// Sequence reports whether the elements are the tokens of one column, a text or a list.
func (t *Tensor) Sequence() bool { return t.Text.IsSet() || t.Listed() }

// Listed reports whether the cells of that column are lists of tokens.
func (t *Tensor) Listed() bool { return t.Tokens.IsSet() || t.Words.IsSet() }

// TokenLevels is the number of tokens that there are.
func (t *Tensor) TokenLevels() int {
	if t.Tokens.IsSet() {
		return t.Tokens.V
	}
	if t.Text.V == Bytes {
		return 1 + 256
	}
	return 2 + len(t.Vocabulary)
}

// The ways to binarise.
const (
	Stochastic = "stochastic"
	Threshold  = "threshold"
)

// Size is the number of columns.
func (t *Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s.V
	}
	return n
}

// Tensor returns the tensor of that name, or nil.
func (d *Data) Tensor(name string) *Tensor {
	for _, t := range d.Tensors {
		if t.Name.V == name {
			return t
		}
	}
	return nil
}

// AllColumns lists the columns of the data file that the model may read: the
// declared ones, then those of each tensor.
func (d *Data) AllColumns() []*Column {
	all := d.Columns[:len(d.Columns):len(d.Columns)]
	for _, t := range d.Tensors {
		all = append(all, t.Columns...)
	}
	return all
}

// Headers names these columns as the data file does, a sequence once.
func (d *Data) Headers() (names []string) {
	for _, c := range d.Columns {
		names = append(names, c.HeaderName())
	}
	for _, t := range d.Tensors {
		if t.Sequence() {
			names = append(names, t.From.V)
			continue
		}
		for _, c := range t.Columns {
			names = append(names, c.HeaderName())
		}
	}
	return names
}

// TokenColumn names token i of a sequence in a table with a column for each token.
func TokenColumn(column string, i int) string { return column + "#" + strconv.Itoa(i) }

// ReadVocabulary are the tokens of a file, one a line.
func ReadVocabulary(src []byte) (tokens []string) {
	for line := range bytes.Lines(bytes.TrimPrefix(src, []byte("\ufeff"))) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			tokens = append(tokens, string(line))
		}
	}
	return tokens
}
