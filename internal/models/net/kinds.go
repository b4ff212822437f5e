package net

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is one row of the table of layers. Reading, printing, the schema of model files,
// the manual and the shapes follow from it.
type Kind struct {
	Name  string
	Needs []string          // settings without which there is no layer
	OneOf []string          // settings; one of them is required
	Takes []string          // other settings
	Other map[string]string // its own defaults, in the words of the manual
	Axes  int               // along which its windows lie
	Maps  string            // input → output, in the words of the manual
	// Example is a net with the layer on an input that it takes, for the tests: of the
	// dims x (4), y and t (4 at least) and v (6).
	Input, Example string
	// build checks the layer at the plan's shape, sets the shape to that of its output and
	// returns its step; nil after a mistake.
	build func(p *plan, l *Layer) step
}

// Kinds is the table of layers; activations are layers without settings.
func Kinds() []Kind {
	weights := []string{"activation", "init", "bias", "frozen"}
	along := []string{"depth", "bidirectional", "output", "init", "bias", "frozen"}
	const sequences = "[channel, t] or [t] → [units], or [units, t] with `output: sequence`; twice the units if bidirectional"
	list := []Kind{
		{Name: "dense", Needs: []string{"units"}, Takes: append(weights[:len(weights):len(weights)], "lora"), Maps: "[i] → [units]",
			Input: "v", Example: "dense: {units: 3}", build: dense},
		{Name: "bilinear", Needs: []string{"units"}, Takes: append(weights[:len(weights):len(weights)], "first"), Maps: "[i] → [units]: products of the first numbers and the others",
			Input: "v", Example: "bilinear: {units: 3, first: 2}", build: bilinear},
		{Name: "flatten", Maps: "one vector, in row-major order",
			Input: "y, x", Example: "flatten: {}", build: flatten},
		{Name: "reshape", OneOf: []string{"dims", "shape"}, Maps: "as many numbers in other dims, in row-major order",
			Input: "v", Example: "reshape: {shape: [2, 3]}", build: reshape},
	}
	for axes := 1; axes <= maxAxes; axes++ {
		list = append(list, windowed(axes, weights)...)
	}
	list = append(list, []Kind{
		{Name: "global_avg_pool", Maps: "[channel, positions] → [channel]",
			Input: "y, x", Example: "global_avg_pool: {}", build: globalMean},
		{Name: "scattering", Takes: []string{"scales", "orientations"}, Maps: "[channel, y, x] or [y, x] → [channel, y, x] of fixed wavelets",
			Input: "y, x", Example: "scattering: {scales: 1, orientations: 2}", build: scattering},
		{Name: "embedding", Needs: []string{"levels", "units"}, Takes: []string{"init", "frozen"}, Maps: "whole numbers from 0 → [units, dims of the input]",
			Input: "t", Example: "embedding: {levels: 4, units: 3}", build: embedding},
		{Name: "rnn", Needs: []string{"units"}, Takes: along, Maps: sequences,
			Input: "t", Example: "rnn: {units: 2, output: sequence}", build: recurrent(elman())},
		{Name: "gru", Needs: []string{"units"}, Takes: along, Maps: "the same",
			Input: "t", Example: "gru: {units: 2}", build: recurrent(gru())},
		{Name: "lstm", Needs: []string{"units"}, Takes: along, Maps: "the same",
			Input: "t", Example: "lstm: {units: 2}", build: recurrent(lstm())},
		{Name: "multi_head_attention", Needs: []string{"heads"}, Takes: []string{"causal", "init", "bias", "frozen", "lora"}, Maps: "[channel, t] → the same dims",
			Input: "x, y", Example: "multi_head_attention: {heads: 2}", build: attention},
		{Name: "transformer", Needs: []string{"heads", "units"}, Takes: []string{"depth", "causal", "init", "frozen"}, Maps: "[channel, t] → the same dims; units inside",
			Input: "x, y", Example: "transformer: {heads: 2, units: 3}", build: transformer},
		{Name: "positions", Takes: []string{"init", "frozen"}, Maps: "the same dims, plus a weight for each value of [channel, t]",
			Input: "y, x", Example: "positions: {}", build: positions},
		{Name: "layer_norm", Takes: []string{"trailing", "epsilon", "affine", "activation", "frozen"}, Maps: "the same dims",
			Input: "y, x", Example: "layer_norm: {}", build: layerNorm},
		{Name: "group_norm", Needs: []string{"groups"}, Takes: []string{"epsilon", "affine", "activation", "frozen"}, Maps: "the same dims, the first is the channel",
			Input: "x, y", Example: "group_norm: {groups: 2}", build: groupNorm},
		{Name: "instance_norm", Takes: []string{"epsilon", "affine", "activation", "frozen"}, Other: map[string]string{"affine": "false"}, Maps: "the same dims",
			Input: "y, x", Example: "instance_norm: {}", build: instanceNorm},
		{Name: "rms_norm", Takes: []string{"epsilon", "affine", "activation", "frozen"}, Maps: "the same dims; over the first, at every position",
			Input: "x, y", Example: "rms_norm: {}", build: rmsNorm},
		{Name: "residual", Needs: []string{"layers"}, Takes: []string{"shortcut", "activation"}, Maps: "s(x) + f(x)",
			Input: "v", Example: "residual: {layers: [{dense: {units: 6}}]}", build: residual},
		{Name: "dropout", Needs: []string{"rate"}, Maps: "the same dims; nothing in predictions",
			Input: "v", Example: "dropout: {rate: 0.2}", build: dropout},
		{Name: "augment", Takes: []string{"shift", "flip"}, Maps: "[channel, y, x] or [y, x] → the same dims, moved and mirrored; nothing in predictions",
			Input: "y, x", Example: "augment: {shift: 1, flip: true}", build: augment},
	}...)
	for _, f := range functions() {
		list = append(list, Kind{Name: f.name, Maps: "value by value", Input: "v", Example: f.name + ": {}",
			build: func(*plan, *Layer) step { return f.step }})
	}
	return list
}

// maxAxes is the most axes that windows lie along.
const maxAxes = 3

// windowed are the layers whose windows lie along the given number of axes.
func windowed(axes int, weights []string) []Kind {
	window, filters, kernel := []string{"stride", "padding"}, []string{"filters", "kernel"}, []string{"kernel"}
	filtered, pooled := slices.Concat(window, weights), map[string]string{"stride": "the kernel"}
	input := strings.Join([]string{"v", "y", "x"}[maxAxes-axes:], ", ")
	name := func(kind string) string { return strings.Replace(kind, "#", strconv.Itoa(axes), 1) }
	space := strings.Join(axisNames(axes), ", ")
	list := []Kind{
		{Name: name("conv#d"), Needs: filters, Takes: filtered, Maps: "[channel, " + space + "] or [" + space + "] → [filters, " + space + "]",
			Example: "filters: 2, kernel: 2", build: convolution(axes)},
		{Name: name("conv#d_transpose"), Needs: filters, Takes: filtered, Maps: "the adjoint: more positions",
			Example: "filters: 2, kernel: 2", build: transposed(axes)},
		{Name: name("max_pool#d"), Needs: kernel, Takes: window, Other: pooled, Maps: "the largest value of every window, channel by channel",
			Example: "kernel: 2", build: pooling(axes, true)},
		{Name: name("avg_pool#d"), Needs: kernel, Takes: window, Other: pooled, Maps: "the mean of every window, channel by channel",
			Example: "kernel: 2", build: pooling(axes, false)},
	}
	for i := range list {
		k := &list[i]
		k.Axes, k.Input, k.Example = axes, input, k.Name+": {"+k.Example+"}"
	}
	return list
}

// axisNames are the names of the last axes of z, y and x.
func axisNames(axes int) []string { return []string{"z", "y", "x"}[maxAxes-axes:] }

// KindNamed is the row of a layer; false without one.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Names lists the layers of the language.
func Names() (names []string) {
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// Alone reports whether the layer needs no settings.
func (k Kind) Alone() bool { return len(k.Needs)+len(k.OneOf) == 0 }

// Missing is a setting that a layer needs beside its stated ones; "" if it lacks none.
func (k Kind) Missing(states func(key string) bool) string {
	for _, key := range k.Needs {
		if !states(key) {
			return key
		}
	}
	if len(k.OneOf) > 0 && !slices.ContainsFunc(k.OneOf, states) {
		return strings.Join(k.OneOf, " or ")
	}
	return ""
}

// Settings are the settings of a layer of this kind.
func (k Kind) Settings() (list []Setting) {
	for _, s := range Settings() {
		if slices.Contains(slices.Concat(k.Needs, k.OneOf, k.Takes), s.Key) {
			if other, ok := k.Other[s.Key]; ok {
				s.Default = other
			}
			list = append(list, s)
		}
	}
	return list
}
