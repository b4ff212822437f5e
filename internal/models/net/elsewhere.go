package net

import (
	"slices"
	"strings"

	"d3p/internal/spell"
)

// elsewhere are the names here of layers and settings of PyTorch and Keras, written as
// plainName does.
var elsewhere = map[string]string{
	"linear": "dense", "fc": "dense", "fullyconnected": "dense", "convtranspose1d": "conv1d_transpose", "convtranspose2d": "conv2d_transpose", "convtranspose3d": "conv3d_transpose",
	"multiheadattention": "multi_head_attention", "attention": "multi_head_attention", "selfattention": "multi_head_attention",
	"transformerencoder": "transformer", "transformerencoderlayer": "transformer", "transformerblock": "transformer",
	"adaptiveavgpool": "global_avg_pool", "positionalencoding": "positions", "embeddingbag": "embedding", "simplernn": "rnn", "swish": "silu", "alphadropout": "dropout",
	"unflatten": "reshape",

	"outfeatures": "units", "hiddensize": "units", "embeddingdim": "units", "outputdim": "units", "dimfeedforward": "units", "dmodel": "units",
	"numembeddings": "levels", "inputdim": "levels", "outchannels": "filters", "kernelsize": "kernel", "strides": "stride", "numheads": "heads", "nhead": "heads",
	"numlayers": "depth", "layers": "depth", "numgroups": "groups", "eps": "epsilon", "p": "rate", "elementwiseaffine": "affine", "usebias": "bias",
}

// without are what to write in place of layers that the language does not have, by
// plainName.
var without = map[string]string{
	"activation":    "write the function alone, such as relu, or activation: relu in the settings of the layer before",
	"softmax":       "leave it out: categorical(logits=net(x)) takes the values before it",
	"logsoftmax":    "leave it out: categorical(logits=net(x)) takes the values before it",
	"sequential":    "list its layers under layers:",
	"input":         "name the dims of the input under input: of the net",
	"bidirectional": "write bidirectional: true in the settings of the recurrent layer",
	"add":           "write residual: {layers: [...]}",
	"rescaling":     "write scale: under data",
}

// plainName is a name in lower case without underscores and packages, and with PyTorch's
// words for Keras's.
func plainName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name[strings.LastIndexByte(name, '.')+1:], "_", ""))
	return strings.NewReplacer("normalization", "norm", "pooling", "pool", "average", "avg").Replace(name)
}

// withoutAxes is a plain name without the number of axes at its end, as in batchnorm2d.
func withoutAxes(plain string) string {
	if n := len(plain); n > 2 && plain[n-1] == 'd' && strings.ContainsRune("123", rune(plain[n-2])) {
		return plain[:n-2]
	}
	return plain
}

// Called is the one of names that a layer or setting of PyTorch or Keras has here, or "".
func Called(name string, names []string) string {
	for plain := plainName(name); ; plain = withoutAxes(plain) {
		if at := slices.IndexFunc(names, func(n string) bool { return plainName(n) == plain }); at >= 0 {
			return names[at]
		}
		if here := elsewhere[plain]; slices.Contains(names, here) {
			return here
		}
		if plain == withoutAxes(plain) {
			return ""
		}
	}
}

// Instead is what to write in place of a layer that the language does not have.
func Instead(name string) string {
	if here := Called(name, Names()); here != "" {
		return "write " + here
	}
	if hint := without[plainName(name)]; hint != "" {
		return hint
	}
	return spell.Question(name, Names(), "d3p help layers lists the layers")
}
