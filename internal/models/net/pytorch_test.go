package net

import (
	"slices"
	"testing"
)

// Names of PyTorch, in its writing or with underscores, lead to names here that exist.
func TestCalled(t *testing.T) {
	names := Names()
	for _, k := range Kinds() {
		for _, s := range k.Settings() {
			names = append(names, s.Key)
		}
	}
	for there, here := range pytorch {
		if !slices.Contains(names, here) || plainName(there) != there || Called(there, names) != here && !slices.Contains(names, there) {
			t.Errorf("%s: %s, want %s", there, Called(there, names), here)
		}
	}
	for there, here := range map[string]string{"Linear": "dense", "nn.Linear": "", "MaxPool2d": "max_pool2d", "conv_transpose2d": "conv2d_transpose", "GRU": "gru", "linearly": ""} {
		if got := Called(there, Names()); got != here {
			t.Errorf("%s: %q, want %q", there, got, here)
		}
	}
}
