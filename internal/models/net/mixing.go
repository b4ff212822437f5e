package net

import (
	"regexp"
	"slices"
	"strings"
)

// Mixing is a layer of other libraries that a private fit must not have.
type Mixing struct {
	Name, Why, Instead string
	// Rewrite: WithoutMixing replaces it by group_norm.
	Rewrite bool
}

// MixingLayers lists layers whose output for one record depends on other records, or whose
// randomness d3p does not draw, with their replacements.
func MixingLayers() []Mixing {
	return []Mixing{
		{"batch_norm", "it normalises with mean and variance of the batch", "use layer_norm or group_norm, or scale: in the data block", true},
		{"batch_renorm", "it normalises with mean and variance of batches", "use layer_norm or group_norm", true},
		{"sync_batch_norm", "it normalises with mean and variance of the batch", "use layer_norm or group_norm", true},
		{"minibatch_discrimination", "it compares a record with the others of its batch", "leave it out", false},
		{"moe", "its load balancing depends on how all records are routed", "use dense", false},
		{"mixup", "it averages two records", "leave it out", false},
		{"spectral_norm", "its power iteration is trained along with the batches", "use a prior on the weights", false},
	}
}

// MixingNamed is the layer of MixingLayers of that name, or of PyTorch's for images of a
// number of axes, as in BatchNorm2d.
func MixingNamed(name string) (Mixing, bool) {
	plain := plainName(name)
	if n := len(plain); n > 2 && strings.HasSuffix(plain, "d") && strings.ContainsAny(plain[n-2:n-1], "123") {
		plain = plain[:n-2]
	}
	list := MixingLayers()
	at := slices.IndexFunc(list, func(x Mixing) bool { return plainName(x.Name) == plain })
	if at < 0 {
		return Mixing{}, false
	}
	return list[at], true
}

// layerText is a layer as one line of a model file has it: its name, with settings in
// braces or alone.
var layerText = regexp.MustCompile(`^(\w+)(: *\{([^{}]*)\}|[ \t,\]}]|$)`)

// WithoutMixing is a line of a model file with the layer at a column, from 1, replaced by
// group_norm with one group, which fits any number of channels. It keeps settings that
// group_norm has. It returns false without a replaceable layer of MixingLayers there.
func WithoutMixing(line string, column int) (string, bool) {
	if column < 1 || column > len(line) {
		return line, false
	}
	before, rest := line[:column-1], line[column-1:]
	m := layerText.FindStringSubmatch(rest)
	if m == nil {
		return line, false
	}
	if mixing, ok := MixingNamed(m[1]); !ok || !mixing.Rewrite {
		return line, false
	}
	if !strings.HasPrefix(m[2], ":") {
		return before + "{group_norm: {groups: 1}}" + rest[len(m[1]):], true
	}
	settings := []string{"groups: 1"}
	kind, _ := KindNamed("group_norm")
	for _, s := range strings.Split(m[3], ",") {
		if key, _, ok := strings.Cut(s, ":"); ok && slices.Contains(kind.Takes, strings.TrimSpace(key)) {
			settings = append(settings, strings.TrimSpace(s))
		}
	}
	return before + "group_norm: {" + strings.Join(settings, ", ") + "}" + rest[len(m[0]):], true
}
