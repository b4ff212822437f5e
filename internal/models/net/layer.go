package net

import (
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// FlatPrior is the spelling of the improper prior of weights that are only points.
const FlatPrior = "flat"

// Declaration is a network of a model file: layers from a value with the dims of Input
// to its output, or to one output per head. Expressions call it: `net(x)`,
// `encoder(x).loc`.
type Declaration struct {
	Name  source.Value[string]
	Input []source.Value[string] // dims
	Init  Init                   // of layers that state none
	Prior *core.Definition       // of all weights; nil: flat
	// Weights is the public file with the initial weights. Train is one of Trained.
	Weights Pretrained
	Train   source.Value[string]
	Layers  []*Layer
	Heads   []*Head // after the layers; none: one output
}

// Calls reports whether an expression calls the net.
func (n *Declaration) Calls(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		c, ok := e.(*expr.Call)
		found = found || ok && c.Func == n.Name.V
		return !found
	})
	return found
}

// Head is one of several outputs of a net.
type Head struct {
	Name   source.Value[string]
	Layers []*Layer
}

// Layer is one step of a net as the model file has it: its kind and its settings.
type Layer struct {
	Kind       source.Value[string]
	Units      Size
	Activation source.Value[string]
	Init       Init
	Bias       source.Value[bool]
	Frozen     source.Value[bool] // the weights stay as the net's file has them
	LoRA       LoRA
	Dims       []source.Value[string] // of reshape
	Shape      Sizes                  // of reshape

	// of convolutions and pooling
	Filters        Size
	Kernel, Stride PerAxis
	Padding        Padding

	// of recurrent layers
	Depth         source.Value[int]
	Bidirectional source.Value[bool]
	Output        source.Value[string] // last or sequence

	// of attention
	Heads  source.Value[int]
	Causal source.Value[bool]

	Scales, Orientations source.Value[int] // of scattering

	First    source.Value[int]     // of bilinear: numbers of the first factor
	Levels   Size                  // of embeddings
	Epsilon  source.Value[float64] // of normalisations
	Affine   source.Value[bool]
	Trailing source.Value[int] // of layer_norm: the last dims
	Groups   source.Value[int]
	Rate     source.Value[float64] // of dropout
	Shift    source.Value[int]     // of augment: the most positions along each axis
	Flip     source.Value[bool]    // of augment
	Layers   []*Layer              // of residual
	Shortcut []*Layer
}

// Size is a number, or the declared dim that the output has.
type Size struct{ source.Value[string] }

// Sizes is a list of sizes.
type Sizes []source.Value[int]

// PerAxis is one size for all axes, or one for each.
type PerAxis []source.Value[int]

// Padding is the number of positions by which a window may reach beyond the image.
type Padding struct {
	Mode   source.Value[string] // same or valid
	Margin source.Value[int]    // a number of positions on both sides
}

// LoRA is a trained change of low rank of a matrix that stays as the net's file has it.
type LoRA struct{ Rank source.Value[int] }

// Init is the start of weights: public random numbers, independent of records.
type Init struct {
	Kind source.Value[string]  // glorot, he, normal or zero
	SD   source.Value[float64] // of normal: of weights and biases
}

// Setting is one row of the table of the settings of layers. The type of the value
// determines its notation.
type Setting struct {
	Key     string
	At      func(l *Layer) any
	Default string   // in the words of the manual
	Choices []string // of a word
	Least   int      // of a whole number
	Range   string   // of a real number, in words
	Inside  func(x float64) bool
}

// Settings is the table of the settings of layers, in the order in which they are
// printed. A new one is a field of Layer and a row here.
func Settings() []Setting {
	return []Setting{
		{Key: "filters", At: func(l *Layer) any { return &l.Filters }},
		{Key: "kernel", At: func(l *Layer) any { return &l.Kernel }},
		{Key: "stride", At: func(l *Layer) any { return &l.Stride }, Default: "1"},
		{Key: "padding", At: func(l *Layer) any { return &l.Padding }, Default: "valid"},
		{Key: "units", At: func(l *Layer) any { return &l.Units }},
		{Key: "first", At: func(l *Layer) any { return &l.First }, Least: 1, Default: "half of them"},
		{Key: "activation", At: func(l *Layer) any { return &l.Activation }, Choices: Activations()},
		{Key: "init", At: func(l *Layer) any { return &l.Init }},
		{Key: "bias", At: func(l *Layer) any { return &l.Bias }, Default: "true"},
		{Key: "frozen", At: func(l *Layer) any { return &l.Frozen }, Default: "false"},
		{Key: "lora", At: func(l *Layer) any { return &l.LoRA }, Default: "none"},
		{Key: "depth", At: func(l *Layer) any { return &l.Depth }, Least: 1, Default: "1"},
		{Key: "bidirectional", At: func(l *Layer) any { return &l.Bidirectional }, Default: "false"},
		{Key: "output", At: func(l *Layer) any { return &l.Output }, Choices: []string{"last", "sequence"}, Default: "last"},
		{Key: "heads", At: func(l *Layer) any { return &l.Heads }, Least: 1},
		{Key: "causal", At: func(l *Layer) any { return &l.Causal }, Default: "false"},
		{Key: "scales", At: func(l *Layer) any { return &l.Scales }, Least: 1, Default: "2"},
		{Key: "orientations", At: func(l *Layer) any { return &l.Orientations }, Least: 1, Default: "8"},
		{Key: "levels", At: func(l *Layer) any { return &l.Levels }},
		{Key: "groups", At: func(l *Layer) any { return &l.Groups }, Least: 1},
		{Key: "trailing", At: func(l *Layer) any { return &l.Trailing }, Least: 1, Default: "all dims"},
		{Key: "epsilon", At: func(l *Layer) any { return &l.Epsilon }, Range: "positive", Inside: func(x float64) bool { return x > 0 }, Default: "1e-5"},
		{Key: "affine", At: func(l *Layer) any { return &l.Affine }, Default: "true"},
		{Key: "rate", At: func(l *Layer) any { return &l.Rate }, Range: "at least 0 and below 1", Inside: func(x float64) bool { return x >= 0 && x < 1 }},
		{Key: "shift", At: func(l *Layer) any { return &l.Shift }, Default: "0"},
		{Key: "flip", At: func(l *Layer) any { return &l.Flip }, Default: "false"},
		{Key: "layers", At: func(l *Layer) any { return &l.Layers }},
		{Key: "shortcut", At: func(l *Layer) any { return &l.Shortcut }, Default: "the input itself"},
		{Key: "dims", At: func(l *Layer) any { return &l.Dims }},
		{Key: "shape", At: func(l *Layer) any { return &l.Shape }},
	}
}
