package main

import (
	"context"
	"os"
	"runtime"
	"sync"

	"d3p/internal/cpu"
	"d3p/internal/fit/plan"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/rehearsal"
)

// run draws, fits and scores `tables` tables, one per processor at a time.
func (s setup) run(config plan.Config, tables int, dir string) ([]tableScores, error) {
	config.Epsilon, config.Records = s.epsilon, s.records
	plan, err := plan.New(s.used, config)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	fits := rehearsal.Rehearsal{Plan: plan, Drawn: s.drawn, Folder: dir, Engine: func() privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }}
	out, errs := make([]tableScores, tables), make([]error, tables)
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for k := range tables {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			post, truth, err := fits.Fit(context.Background(), k)
			if errs[k] = err; err == nil {
				out[k] = s.score(post, truth)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// score compares a posterior with the parameters that made the table.
func (s setup) score(post *posterior.Posterior, truth []float64) tableScores {
	for _, p := range s.used.Params {
		for j := p.Offset; j < p.Offset+p.Size && p.Name == "b"; j++ {
			truth[j] /= s.unit
		}
	}
	return scoreTable(s.used, post, truth)
}
