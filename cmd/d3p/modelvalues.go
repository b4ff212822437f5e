package main

import (
	"strings"

	"d3p/internal/models/spec"
)

// modelValues says where in the model file a setting stands. The settings that
// are not here cannot be given by a model file.
func modelValues() map[string]func(*spec.Spec) (any, spec.Position) {
	return map[string]func(*spec.Spec) (any, spec.Position){
		"records":   func(m *spec.Spec) (any, spec.Position) { return recordsOf(m) },
		"epsilon":   func(m *spec.Spec) (any, spec.Position) { return m.Privacy.Epsilon.V, m.Privacy.Epsilon.At },
		"delta":     func(m *spec.Spec) (any, spec.Position) { return m.Privacy.Delta.V, m.Privacy.Delta.At },
		"adjacency": func(m *spec.Spec) (any, spec.Position) { return m.Privacy.Neighbours.V, m.Privacy.Neighbours.At },
		"noise-multiplier": func(m *spec.Spec) (any, spec.Position) {
			return m.Privacy.NoiseMultiplier.V, m.Privacy.NoiseMultiplier.At
		},
		"sampling":      func(m *spec.Spec) (any, spec.Position) { return m.Fit.Scheme.V, m.Fit.Scheme.At },
		"sampling-rate": func(m *spec.Spec) (any, spec.Position) { return m.Fit.Rate.V, m.Fit.Rate.At },
		"batch-size":    func(m *spec.Spec) (any, spec.Position) { return m.Fit.BatchSize.V, m.Fit.BatchSize.At },
		"steps":         func(m *spec.Spec) (any, spec.Position) { return m.Fit.Iterations.V, m.Fit.Iterations.At },
		"epochs":        func(m *spec.Spec) (any, spec.Position) { return m.Fit.Epochs.V, m.Fit.Epochs.At },
		"clipping":      func(m *spec.Spec) (any, spec.Position) { return m.Fit.ClipMode.V, m.Fit.ClipMode.At },
		"clip-norm":     func(m *spec.Spec) (any, spec.Position) { return m.Fit.ClipNorm.V, m.Fit.ClipNorm.At },
		"clip-quantile": func(m *spec.Spec) (any, spec.Position) { return m.Fit.ClipQuantile.V, m.Fit.ClipQuantile.At },
		"optimizer":     func(m *spec.Spec) (any, spec.Position) { return m.Fit.Optimizer.V, m.Fit.Optimizer.At },
		"learning-rate": func(m *spec.Spec) (any, spec.Position) { return m.Fit.LearningRate.V, m.Fit.LearningRate.At },
		"guide":         func(m *spec.Spec) (any, spec.Position) { return guideOf(m), m.Guide.Type.At },
		"rank":          func(m *spec.Spec) (any, spec.Position) { return m.Guide.Rank.V, m.Guide.Rank.At },
		"init":          func(m *spec.Spec) (any, spec.Position) { return m.Guide.Init.V, m.Guide.Init.At },
		"init-scale":    func(m *spec.Spec) (any, spec.Position) { return m.Guide.InitScale.V, m.Guide.InitScale.At },
		"gradient":      func(m *spec.Spec) (any, spec.Position) { return m.Fit.Gradient.V, m.Fit.Gradient.At },
		"averaging":     func(m *spec.Spec) (any, spec.Position) { return m.Fit.AverageLast.V, m.Fit.AverageLast.At },
		"noise-aware":   func(m *spec.Spec) (any, spec.Position) { return m.Fit.NoiseAware.V, m.Fit.NoiseAware.At },
		"ledger":        func(m *spec.Spec) (any, spec.Position) { return m.Privacy.Ledger.V, m.Privacy.Ledger.At },
		"compat":        func(m *spec.Spec) (any, spec.Position) { return m.Fit.Compat.V, m.Fit.Compat.At },
		"draws":         func(m *spec.Spec) (any, spec.Position) { return m.Output.Draws.V, m.Output.Draws.At },
		"formats":       func(m *spec.Spec) (any, spec.Position) { return formatsOf(m) },
	}
}

// formatsOf returns the formats of the draws, comma-separated.
func formatsOf(m *spec.Spec) (any, spec.Position) {
	var names []string
	for _, f := range m.Output.Formats {
		names = append(names, f.V)
	}
	if len(names) == 0 {
		return nil, spec.Position{}
	}
	return strings.Join(names, ","), m.Output.Formats[0].At
}

// recordsOf returns the public number of units, or its public bound.
func recordsOf(m *spec.Spec) (any, spec.Position) {
	rows := m.Data.Rows
	if rows.Public.IsSet() {
		return rows.Public.V, rows.Public.At
	}
	return rows.UpperBound.V, rows.UpperBound.At
}

// guideOf returns the guide of the model's parameters: under an amortised one
// they are points.
func guideOf(m *spec.Spec) string {
	if m.Guide.Type.V == spec.Amortised {
		return "delta"
	}
	return m.Guide.Type.V
}
