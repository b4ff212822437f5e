package net

import (
	"slices"
	"strings"
	"testing"
)

// Names of PyTorch and Keras, in their writing or with underscores, lead to names here that exist.
func TestCalled(t *testing.T) {
	names := Names()
	for _, k := range Kinds() {
		for _, s := range k.Settings() {
			names = append(names, s.Key)
		}
	}
	for there, here := range elsewhere {
		if !slices.Contains(names, here) || plainName(there) != there || Called(there, names) != here && !slices.Contains(names, there) {
			t.Errorf("%s: %s, want %s", there, Called(there, names), here)
		}
	}
	for there, here := range map[string]string{"Linear": "dense", "nn.Linear": "dense", "AdaptiveAvgPool2d": "global_avg_pool", "GlobalAveragePooling1D": "global_avg_pool", "LayerNormalization": "layer_norm", "InstanceNorm2d": "instance_norm", "Conv3DTranspose": "conv3d_transpose", "MaxPool2d": "max_pool2d", "conv_transpose2d": "conv2d_transpose", "GRU": "gru", "linearly": ""} {
		if got := Called(there, Names()); got != here {
			t.Errorf("%s: %q, want %q", there, got, here)
		}
	}
}

// A layer that the language does not have gets a hint that can be typed.
func TestInstead(t *testing.T) {
	for there, want := range map[string]string{"nn.Linear": "write dense", "Activation": "write the function alone", "log_softmax": "leave it out", "dens": "did you mean dense?", "Lambda": "d3p help layers"} {
		if got := Instead(there); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", there, got, want)
		}
	}
	for there := range without {
		if plainName(there) != there || Called(there, Names()) != "" {
			t.Errorf("%s has a name here, or is not plain", there)
		}
	}
}
