// Package workload estimates the time and memory of a planned fit on this machine, the number of processes of
// a cluster that are worth starting, and the work of a network for one record.
package workload

import (
	"fmt"
	"runtime"
	"time"

	"d3p/internal/cpu"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/run"
)

// Estimate is the time and memory of a fit on this machine.
type Estimate struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"` // the table in memory
	Threads int     `json:"threads"`
}

const (
	timedRecords = 4096
	timedNumbers = 1 << 20 // of fewer records, if they are long
	timedFor     = 30 * time.Millisecond
)

// Of times the engine on simulated records. It reads no data, and returns nil for models
// with noise in the likelihood.
func Of(m *models.Model, plan *plan.Plan) *Estimate {
	if plan.ByMarginals() {
		return nil
	}
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
	table := privacy.TableConfig{Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, PackFrom: run.PackFrom}
	perRecord := time.Since(start).Seconds() / float64(calls) / float64(rows.N)
	records := plan.SamplingRate * plan.BatchSchedule.Mean() * float64(plan.Records) * float64(plan.Steps*plan.Draws)
	return &Estimate{
		Seconds: perRecord * records,
		Bytes:   float64(plan.Records) * float64(table.RecordBytes(plan.Records)),
		Threads: runtime.GOMAXPROCS(0),
	}
}

// simulatedRows are records in the engine's form: float32, with room for the columns that
// the engine derives.
func simulatedRows(m *models.Model, theta []float64, random *noise.Random) *privacy.Rows {
	k := m.Encoding.K
	n := min(timedRecords, max(64, timedNumbers/max(1, k)))
	encoded := simulate.Records(m, theta, n, m.DeclaredLaw(), random)
	stride := max(k, m.Likelihood.K)
	rows := privacy.NewRows(privacy.Float32, n, stride, stride)
	for r := range n {
		rows.Set(r, 0, encoded[r*k:(r+1)*k])
	}
	return rows
}

// Words describes the work of the plan; without times if e is nil.
func (e *Estimate) Words(plan *plan.Plan) string {
	words := fmt.Sprintf("%.3g records processed", plan.SamplingRate*plan.BatchSchedule.Mean()*float64(plan.Records)*float64(plan.Steps))
	if e == nil {
		return words
	}
	return fmt.Sprintf("%s: about %.2g s in %d threads; the table takes %.2g MiB", words, e.Seconds, e.Threads, e.Bytes/(1<<20))
}

// Seconds of a fit other than its steps, from docs/guide/cluster.md: for a processor to
// read and count one number of a record; for a process with any number of records; for a
// sum over processes in a step.
const (
	readingTime = 1.4e-7
	fixedTime   = 2
	sumTime     = 4e-5
)

// usefulProcesses is the largest number of processes, each with e.Threads threads, that
// spend at least half of their time on their share of the records. It also returns the
// seconds of a fit with that number.
func (e *Estimate) usefulProcesses(p *plan.Plan, columns int) (processes int, seconds float64) {
	shared := e.Seconds + readingTime*float64(p.Records*columns)/float64(e.Threads)
	processes = max(1, int(shared/(fixedTime+sumTime*float64(p.Steps))))
	seconds = shared/float64(processes) + fixedTime
	if processes > 1 {
		seconds += sumTime * float64(p.Steps)
	}
	return processes, seconds
}

// Processes is the number of processes of a cluster that are worth starting, in words.
// columns is the number of columns that the fit reads from the file.
func (e *Estimate) Processes(p *plan.Plan, columns int) string {
	processes, seconds := e.usefulProcesses(p, columns)
	if processes == 1 {
		return fmt.Sprintf("one, about %.2g s with reading; more do not help", seconds)
	}
	return fmt.Sprintf("up to %d of %d threads help, under mpirun: about %.2g s with reading; each takes %.2g MiB of the table",
		processes, e.Threads, seconds, e.Bytes/float64(processes)/(1<<20))
}
