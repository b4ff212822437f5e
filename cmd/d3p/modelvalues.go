package main

import (
	"strings"

	"d3p/internal/models/spec"
)

// modelValues says where in the model file a setting stands. The settings that
// are not here cannot be given by a model file.
func modelValues() map[string]func(*spec.Spec) (any, spec.Position) {
	return map[string]func(*spec.Spec) (any, spec.Position){
		"records":          recordsOf,
		"epsilon":          stated(func(m *spec.Spec) spec.Value[float64] { return m.Privacy.Epsilon }),
		"delta":            stated(func(m *spec.Spec) spec.Value[float64] { return m.Privacy.Delta }),
		"adjacency":        stated(func(m *spec.Spec) spec.Value[string] { return m.Privacy.Neighbours }),
		"noise-multiplier": stated(func(m *spec.Spec) spec.Value[float64] { return m.Privacy.NoiseMultiplier }),
		"sampling":         stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.Scheme }),
		"sampling-rate":    stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.Rate }),
		"batch-size":       stated(func(m *spec.Spec) spec.Value[int] { return m.Fit.BatchSize }),
		"steps":            stated(func(m *spec.Spec) spec.Value[int] { return m.Fit.Iterations }),
		"epochs":           stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.Epochs }),
		"clipping":         stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.ClipMode }),
		"clip-norm":        stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.ClipNorm }),
		"clip-quantile":    stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.ClipQuantile }),
		"optimizer":        stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.Optimizer }),
		"learning-rate":    stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.LearningRate }),
		"schedule":         stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.Schedule }),
		"momentum":         stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.Momentum }),
		"weight-decay":     stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.WeightDecay }),
		"guide":            func(m *spec.Spec) (any, spec.Position) { return guideOf(m), m.Guide.Type.At },
		"rank":             stated(func(m *spec.Spec) spec.Value[int] { return m.Guide.Rank }),
		"init":             stated(func(m *spec.Spec) spec.Value[string] { return m.Guide.Init }),
		"init-scale":       stated(func(m *spec.Spec) spec.Value[float64] { return m.Guide.InitScale }),
		"gradient":         stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.Gradient }),
		"averaging":        stated(func(m *spec.Spec) spec.Value[float64] { return m.Fit.AverageLast }),
		"noise-aware":      stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.NoiseAware }),
		"ledger":           stated(func(m *spec.Spec) spec.Value[string] { return m.Privacy.Ledger }),
		"compat":           stated(func(m *spec.Spec) spec.Value[string] { return m.Fit.Compat }),
		"draws":            stated(func(m *spec.Spec) spec.Value[int] { return m.Output.Draws }),
		"formats":          formatsOf,
	}
}

// stated is the setting that the model file states as one value.
func stated[T any](value func(*spec.Spec) spec.Value[T]) func(*spec.Spec) (any, spec.Position) {
	return func(m *spec.Spec) (any, spec.Position) {
		v := value(m)
		return v.V, v.At
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
