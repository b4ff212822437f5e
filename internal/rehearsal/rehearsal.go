// Package rehearsal fits tables that a model draws from its own prior, as records would be
// fitted, and compares the intervals with the parameters that the tables were drawn with. It computes before a fit
// which part of the posterior variance the privacy noise will be. It reads no data.
package rehearsal

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"d3p/internal/export"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/simulate"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// Rehearsal is a fit of simulated tables.
type Rehearsal struct {
	Plan   *plan.Plan
	Drawn  *models.Model // that draws the tables
	Folder string        // of the tables, which are removed
	Engine func() privacy.Engine
}

// firstTable is the seed of the first table; noise and public draws of its fit have seed
// 0, and each next table the next seeds.
const firstTable = 100

// Fit fits table k with noise of a known seed, and returns the parameters of its draw, too.
func (r Rehearsal) Fit(ctx context.Context, k int) (*posterior.Posterior, []float64, error) {
	own, seed := *r.Plan, uint64(k)
	own.InitSeed = seed
	table, truth := simulate.Units(r.Drawn, own.Records, noise.NewRandom(noise.Public(firstTable+seed).Stream(noise.Simulation)))
	path := filepath.Join(r.Folder, strconv.Itoa(k)+".csv")
	if err := write(path, table); err != nil {
		return nil, nil, err
	}
	defer os.Remove(path)
	own.SideQueries, own.Surprisals = nil, nil // they change no estimate, as design effects do
	m := own.Model()
	data := privacy.TableConfig{Data: path, Encoding: m.Encoding, Spare: m.RotatedSpare(), Root: noise.Insecure(seed)}
	config := privacy.CuratorConfig{
		Engine: r.Engine(), Root: noise.Insecure(seed), Budget: own.Budget(), Relation: own.Relation(),
	}
	buys := own.ToCount()
	if buys {
		config.Columns = privacy.NewColumns(data)
	} else {
		config.Table = privacy.NewTable(data)
	}
	curator, err := privacy.NewCurator(config)
	if err == nil && buys {
		if err = fit.Buy(&own, curator, nil); err == nil {
			err = curator.Encode(config.Columns.Table())
		}
	}
	if err != nil {
		return nil, nil, err
	}
	result, err := fit.Run(ctx, &own, curator, nil)
	if err != nil {
		return nil, nil, err
	}
	return result.Posterior, truth, nil
}

// write writes a table as CSV.
func write(path string, t simulate.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(export.Write(f, "csv", t, export.Options{}), f.Close())
}

// Row compares the 90 % intervals of a parameter with its true values.
type Row struct {
	Parameter string `json:"parameter"`
	Intervals int    `json:"intervals"` // in all tables
	// Hold is the share of them that hold the truth, HoldSE its standard error.
	Hold   float64 `json:"hold"`
	HoldSE float64 `json:"hold_se"`
	// Width is their mean width, in widths of the prior's intervals.
	Width float64 `json:"width"`
}

// draws is the number of draws of a posterior.
const draws = 2000

// Run fits a number of tables, one per processor at a time, and returns a row for each
// parameter that tables of results show.
func (r Rehearsal) Run(ctx context.Context, tables int) ([]Row, error) {
	m := r.Plan.Model()
	prior := outputs.DrawPrior(m, draws, noise.NewRandom(public(0)))
	if prior == nil {
		return nil, errors.New("the model has too many parameters, or its weights are points: there are no intervals to compare")
	}
	fitted, truths := make([][]outputs.Summary, tables), make([]map[string]float64, tables)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k := range tables {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			post, theta, err := r.Fit(ctx, k)
			if err != nil {
				return err
			}
			of := outputs.DrawPosterior(m, post, draws, public(k))
			fitted[k] = outputs.WithoutRepetitions(of.Summarise())
			point := outputs.DrawPosterior(m, posterior.OfPoint(r.Plan, theta), 1, public(k))
			truths[k] = map[string]float64{}
			for v, x := range point.Center {
				truths[k][point.Variables[v].Name] = x
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return compare(fitted, truths, prior.Summarise()), nil
}

// public is the source of the draws of table k.
func public(k int) *noise.Stream { return noise.Public(uint64(k)).Stream(noise.PosteriorDraws) }

// compare compares the summaries of tables with the truths.
func compare(fitted [][]outputs.Summary, truths []map[string]float64, prior []outputs.Summary) (rows []Row) {
	wide, at := map[string]float64{}, map[string]int{}
	for _, s := range prior {
		wide[s.Variable] = s.Q95 - s.Q5
	}
	shares := [][]float64{} // by row, then by table
	for k, list := range fitted {
		held, count := map[string]float64{}, map[string]float64{}
		for _, s := range list {
			name, _, _ := strings.Cut(s.Variable, "[")
			i, known := at[name]
			if !known {
				i = len(rows)
				at[name] = i
				rows, shares = append(rows, Row{Parameter: name}), append(shares, nil)
			}
			row := &rows[i]
			row.Intervals++
			row.Width += (s.Q95 - s.Q5) / wide[s.Variable]
			count[name]++
			if x := truths[k][s.Variable]; s.Q5 <= x && x <= s.Q95 {
				row.Hold++
				held[name]++
			}
		}
		for name, n := range count {
			shares[at[name]] = append(shares[at[name]], held[name]/n)
		}
	}
	for i := range rows {
		row, n := &rows[i], float64(rows[i].Intervals)
		row.Hold, row.Width = row.Hold/n, row.Width/n
		row.HoldSE = standardError(row.Hold, n, shares[i])
	}
	return rows
}

// standardError is the standard error of a share of n intervals: that of independent
// intervals or of the spread between tables, whichever is larger.
func standardError(share, n float64, perTable []float64) float64 {
	square, k := 0.0, float64(len(perTable))
	for _, x := range perTable {
		square += (x - share) * (x - share)
	}
	return math.Sqrt(max(share*(1-share)/n, square/max(k-1, 1)/k))
}
