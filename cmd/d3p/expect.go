package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"d3p/internal/cpu"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/run"
)

// expectedNoise predicts the noise share of every parameter; empty where the
// plan has no such prediction. It reads no data.
func expectedNoise(m *models.Model, plan *plan.Plan) []report.Expected {
	shares := posterior.ExpectedNoiseShare(plan, run.PriorRandom(0))
	list := []report.Expected{}
	if shares == nil {
		return list
	}
	for i := range m.Params {
		p := &m.Params[i]
		e := report.Expected{Parameter: p.Name, Least: math.Inf(1)}
		for _, s := range shares[p.Offset : p.Offset+p.Size] {
			e.Least, e.Most = min(e.Least, s), max(e.Most, s)
		}
		if p.Size > 0 {
			list = append(list, e)
		}
	}
	return list
}

// noiseWords says it in a line.
func noiseWords(list []report.Expected) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, e.Parameter+" "+report.Shares(e.Least, e.Most))
	}
	return strings.Join(parts, ", ")
}

// estimate is what a fit will take on this machine.
type estimate struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"` // the table in memory
	Threads int     `json:"threads"`
}

const (
	timedRecords = 4096
	timedFor     = 30 * time.Millisecond
)

// estimateWork times the engine on records that the model invents; nil for
// models whose likelihood has noise of its own. It reads no data.
func estimateWork(m *models.Model, plan *plan.Plan) *estimate {
	mechanism, err := plan.Mechanism()
	if err != nil || m.Encoding.RowsPerUnit > 1 || mechanism.Tape.AuxRecord > 0 || mechanism.Tape != m.Likelihood {
		return nil
	}
	random := run.PriorRandom(0)
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, random)
	rows := simulatedRows(m, theta, random)
	worker, err := cpu.New(cpu.Options{}).Open(m.Likelihood, rows)
	if err != nil {
		return nil
	}
	defer worker.Close()
	sum := make([]float64, plan.Release)
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 1}
	calls, start := 0, time.Now()
	for time.Since(start) < timedFor {
		if _, err := worker.ClippedSum(sum, privacy.StepInput{Params: theta}, nil, true, clip); err != nil {
			return nil
		}
		calls++
	}
	perRecord := time.Since(start).Seconds() / float64(calls) / timedRecords
	records := plan.SamplingRate * float64(plan.Records) * float64(plan.Steps*plan.Draws)
	return &estimate{
		Seconds: perRecord * records,
		Bytes:   float64(plan.Records) * float64(rows.Stride) * 4,
		Threads: runtime.GOMAXPROCS(0),
	}
}

// simulatedRows are records as an engine reads them: float32, with room for the
// columns that it derives.
func simulatedRows(m *models.Model, theta []float64, random *noise.Random) *privacy.Rows {
	encoded, k := m.SimulateRecords(theta, timedRecords, random), m.Encoding.K
	stride := max(k, m.Likelihood.K)
	rows := &privacy.Rows{F32: make([]float32, timedRecords*stride), N: timedRecords, K: stride, Stride: stride, Valid: make([]bool, timedRecords)}
	for r := range timedRecords {
		rows.Valid[r] = true
		for j, x := range encoded[r*k : (r+1)*k] {
			rows.F32[r*stride+j] = float32(x)
		}
	}
	return rows
}

// workWords says what a fit will take.
func workWords(plan *plan.Plan, e *estimate) string {
	words := fmt.Sprintf("%.3g records processed", plan.SamplingRate*float64(plan.Records)*float64(plan.Steps))
	if e == nil {
		return words
	}
	return fmt.Sprintf("%s: about %.2g s in %d threads; the table takes %.2g MiB", words, e.Seconds, e.Threads, e.Bytes/(1<<20))
}
