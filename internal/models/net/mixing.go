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

// mixingLayers lists layers whose output for one record depends on other records, or whose
// randomness d3p does not draw, with their replacements.
func mixingLayers() []Mixing {
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

// MixingNamed is the layer of mixingLayers of that name, or of PyTorch's or Keras's, as in
// BatchNorm2d and BatchNormalization.
func MixingNamed(name string) (Mixing, bool) {
	plain := withoutAxes(plainName(name))
	list := mixingLayers()
	at := slices.IndexFunc(list, func(x Mixing) bool { return plainName(x.Name) == plain })
	if at < 0 {
		return Mixing{}, false
	}
	return list[at], true
}

// layerText is a layer of a model file: its name, with settings in braces, in a block
// below, or alone.
var layerText = regexp.MustCompile(`(?m)\A(\w+)(: *\{([^{}]*)\}|:[ \t\r]*(?: #.*)?$|[ \t\r,\]}]|$)`)

var lineComment = regexp.MustCompile(` #.*`)

// WithoutMixing is a model file with the layer at a line and column, from 1, replaced by
// group_norm with one group, which fits any number of channels. It keeps settings that
// group_norm has. It returns false without a replaceable layer of mixingLayers there.
func WithoutMixing(text string, line, column int) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	if line < 1 || line > len(lines) || column < 1 || column > len(lines[line-1]) {
		return text, false
	}
	at := len(strings.Join(lines[:line-1], "")) + column - 1
	before, rest := text[:at], text[at:]
	m := layerText.FindStringSubmatch(rest)
	if m == nil {
		return text, false
	}
	if mixing, ok := MixingNamed(m[1]); !ok || !mixing.Rewrite {
		return text, false
	}
	after := rest[len(m[1]):]
	switch {
	case !strings.HasPrefix(m[2], ":"):
		return before + "{group_norm: {groups: 1}}" + after, true
	case !strings.HasSuffix(m[2], "}"):
		return before + "group_norm" + groupNormBlock(after, column-1), true
	}
	settings := []string{"groups: 1"}
	for _, s := range strings.Split(lineComment.ReplaceAllString(m[3], ""), ",") {
		if kept := groupNormSetting(s); kept != "" {
			settings = append(settings, strings.TrimSpace(kept))
		}
	}
	return before + "group_norm: {" + strings.Join(settings, ", ") + "}" + rest[len(m[0]):], true
}

// groupNormSetting is the text "key: value" with the key that group_norm has for it; "" if
// it has none.
func groupNormSetting(text string) string {
	kind, _ := KindNamed("group_norm")
	key, _, ok := strings.Cut(text, ":")
	key = strings.TrimSpace(key)
	here := Called(key, kind.Takes)
	if !ok || here == "" {
		return ""
	}
	return strings.Replace(text, key, here, 1)
}

// groupNormBlock replaces the settings of a layer in the text after its name, which
// begins with a colon. They are the lines indented by more than indent.
func groupNormBlock(text string, indent int) string {
	lines := strings.SplitAfter(text, "\n")
	kept, level, drop, end := "", 0, false, 1
	for ; end < len(lines); end++ {
		line := lines[end]
		bare := strings.TrimLeft(line, " ")
		comment := strings.TrimSpace(bare) == "" || bare[0] == '#'
		in := len(line) - len(bare)
		if !comment && in <= indent {
			break
		}
		if !comment && level == 0 {
			level = in
		}
		if !comment && in == level {
			line = groupNormSetting(line)
			drop = line == ""
		}
		if comment || !drop {
			kept += line
		}
	}
	if level == 0 {
		return ": {groups: 1}" + text[1:]
	}
	return lines[0] + strings.Repeat(" ", level) + "groups: 1\n" + kept + strings.Join(lines[end:], "")
}
