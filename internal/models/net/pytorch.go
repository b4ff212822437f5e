package net

import (
	"slices"
	"strings"
)

// pytorch are the names here of layers and settings of PyTorch, written as plainName does.
var pytorch = map[string]string{
	"linear": "dense", "convtranspose1d": "conv1d_transpose", "convtranspose2d": "conv2d_transpose", "convtranspose3d": "conv3d_transpose",
	"multiheadattention": "multi_head_attention", "attention": "multi_head_attention", "selfattention": "multi_head_attention",
	"transformerencoder": "transformer", "transformerencoderlayer": "transformer", "transformerblock": "transformer",
	"adaptiveavgpool1d": "global_avg_pool", "adaptiveavgpool2d": "global_avg_pool", "adaptiveavgpool3d": "global_avg_pool",
	"positionalencoding": "positions", "embeddingbag": "embedding",

	"outfeatures": "units", "hiddensize": "units", "embeddingdim": "units", "dimfeedforward": "units", "dmodel": "units",
	"numembeddings": "levels", "outchannels": "filters", "kernelsize": "kernel", "numheads": "heads", "nhead": "heads",
	"numlayers": "depth", "layers": "depth", "numgroups": "groups", "eps": "epsilon", "p": "rate", "elementwiseaffine": "affine",
}

// plainName is a name without case and underscores.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Called is the one of names that a layer or setting of PyTorch has here, or "".
func Called(name string, names []string) string {
	plain := plainName(name)
	if at := slices.IndexFunc(names, func(n string) bool { return plainName(n) == plain }); at >= 0 {
		return names[at]
	}
	if here := pytorch[plain]; slices.Contains(names, here) {
		return here
	}
	return ""
}
