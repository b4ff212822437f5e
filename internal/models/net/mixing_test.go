package net_test

import (
	"testing"

	"d3p/internal/models/net"
)

// TestWithoutMixing checks which layers are replaced, and which settings stay.
func TestWithoutMixing(t *testing.T) {
	for _, c := range []struct {
		line   string
		column int
		want   string // "": unchanged
	}{
		{"      - batch_norm", 9, "      - {group_norm: {groups: 1}}"},
		{"layers: [flatten, sync_batch_norm, relu]", 19, "layers: [flatten, {group_norm: {groups: 1}}, relu]"},
		{"  - batch_norm: {momentum: 0.1, epsilon: 1e-3, activation: relu}", 5, "  - group_norm: {groups: 1, epsilon: 1e-3, activation: relu}"},
		{"  - {batch_norm: {}} # first", 6, "  - {group_norm: {groups: 1}} # first"},
		{"  - BatchNorm2d: {eps: 0.1}", 5, "  - group_norm: {groups: 1}"},
		{"  - batch_norm1d", 5, "  - {group_norm: {groups: 1}}"},
		{"  - batch_norm4d", 5, ""},
		{"  - batch_norm:", 5, ""},
		{"  - batch_norm", 4, ""},
		{"  - batch_norms", 5, ""},
		{"  - moe", 5, ""},
		{"  - batch_norm", 0, ""},
		{"  - batch_norm", 99, ""},
	} {
		got, ok := net.WithoutMixing(c.line, c.column)
		if c.want == "" {
			c.want = c.line
		}
		if got != c.want || ok != (c.want != c.line) {
			t.Errorf("%q: %q, %v", c.line, got, ok)
		}
	}
}
