package net_test

import (
	"testing"

	"d3p/internal/models/net"
)

// TestWithoutMixing checks which layers are replaced, and which settings stay.
func TestWithoutMixing(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int    // of its first line
		want   string // "": unchanged
	}{
		{"      - batch_norm", 9, "      - {group_norm: {groups: 1}}"},
		{"layers: [flatten, sync_batch_norm, relu]", 19, "layers: [flatten, {group_norm: {groups: 1}}, relu]"},
		{"  - batch_norm: {momentum: 0.1, epsilon: 1e-3, activation: relu}", 5, "  - group_norm: {groups: 1, epsilon: 1e-3, activation: relu}"},
		{"  - {batch_norm: {}} # first", 6, "  - {group_norm: {groups: 1}} # first"},
		{"  - BatchNorm2d: {num_features: 8, eps: 0.1, affine: false}", 5, "  - group_norm: {groups: 1, epsilon: 0.1, affine: false}"},
		{"  - BatchNormalization:\n      eps : 1e-3 # eps\n      axis: 1", 5, "  - group_norm:\n      groups: 1\n      epsilon : 1e-3 # eps\n"},
		{"  - batch_norm1d", 5, "  - {group_norm: {groups: 1}}"},
		{"  - batch_norm4d", 5, ""},
		{"  - batch_norm:", 5, "  - group_norm: {groups: 1}"},
		{"  - batch_norm: # why\n  - relu\n", 5, "  - group_norm: {groups: 1} # why\n  - relu\n"},
		{"  - batch_norm:\r\n  - relu\r\n", 5, "  - group_norm: {groups: 1}\r\n  - relu\r\n"},
		{"  - batch_norm:\n      momentum: 0.1\n\n      epsilon: 1e-3 # small\n      track:\n        epsilon: 1\n  # next\n  - relu\n", 5,
			"  - group_norm:\n      groups: 1\n\n      epsilon: 1e-3 # small\n  # next\n  - relu\n"},
		{"  - batch_norm:\n     activation: relu", 5, "  - group_norm:\n     groups: 1\n     activation: relu"},
		{"  - batch_norm: {momentum: 0.1, # slow\n     activation: relu}\n", 5, "  - group_norm: {groups: 1, activation: relu}\n"},
		{"  - batch_norm: 3", 5, ""},
		{"  - batch_norm", 4, ""},
		{"  - batch_norms", 5, ""},
		{"  - moe", 5, ""},
		{"  - batch_norm", 0, ""},
		{"  - batch_norm", 99, ""},
	} {
		if c.want == "" {
			c.want = c.text
		}
		text, want := "é:\n"+c.text, "é:\n"+c.want
		if got, ok := net.WithoutMixing(text, 2, c.column); got != want || ok != (want != text) {
			t.Errorf("%q: %q, %v", c.text, got, ok)
		}
	}
}
