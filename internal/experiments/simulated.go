package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"d3p/internal/cpu"
	"d3p/internal/export"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/simulate"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// firstTable is the seed of the first table of a setup; noise and public draws of
// its fit have seed 0, and each next table the next seeds.
const firstTable = 100

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
	out, errs := make([]tableScores, tables), make([]error, tables)
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for k := range tables {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			out[k], errs[k] = s.fit(*plan, uint64(k), filepath.Join(dir, strconv.Itoa(k)+".csv"))
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

// fit draws table k into a file and fits it with noise of a known seed.
func (s setup) fit(plan plan.Plan, k uint64, path string) (tableScores, error) {
	table, truth := simulate.Prior(s.drawn, s.records, noise.NewRandom(noise.Public(firstTable+k).Stream(noise.Simulation)))
	if err := writeSimulated(path, table); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	plan.InitSeed = k
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Table:  privacy.NewTable(privacy.TableConfig{Data: path, Encoding: s.used.Encoding, Root: noise.Insecure(k)}),
		Engine: cpu.New(cpu.Options{Threads: 1}),
		Root:   noise.Insecure(k), Budget: plan.Budget(), Relation: plan.Relation(), Spent: privacy.Ledger{},
	})
	if err != nil {
		return nil, err
	}
	result, err := fit.Run(context.Background(), &plan, curator, nil)
	if err != nil {
		return nil, err
	}
	post := result.Posterior
	for _, p := range s.used.Params {
		for j := p.Offset; j < p.Offset+p.Size && p.Name == "b"; j++ {
			truth[j] /= s.unit
		}
	}
	return scoreTable(s.used, post, truth), nil
}

func writeSimulated(path string, table simulate.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := export.Write(f, "csv", table, export.Options{}); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
