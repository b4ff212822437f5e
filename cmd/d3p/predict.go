package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"d3p/internal/models"
	"d3p/internal/predict"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// predictResult is the JSON form of `d3p predict`: with --out, Rows is empty.
type predictResult struct {
	Out     string     `json:"out,omitempty"`
	N       int        `json:"n"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows,omitempty"`
}

func newPredict(a *app) *cobra.Command {
	var out, format string
	var draws int
	var seed uint64
	c := &cobra.Command{
		Use:   "predict RUN NEW",
		Short: "Predict the response for new rows",
		Long: `Predict reads new rows (CSV or Parquet, the columns that the model's predictors
need) and writes one line per row: mean, sd and 5 % to 95 % of the expected
response over the posterior, and y_q5 to y_q95 of a response that may be
observed. A row that lacks a value the model needs gets empty cells.

With --format zarr the folder --out gets idata.zarr with ArviZ's groups predictions
(every draw of the response, by row) and predictions_constant_data (the rows).

It uses the release alone, so it costs no privacy; the new rows are your own and
nothing protects them.`,
		Example: "  d3p predict d3p-run-cohort-1 new.csv --out predictions.csv\n  d3p predict d3p-run-cohort-1 new.csv --format zarr --out predictions",
		Args:    exactly("RUN", "NEW"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkDraws(draws); err != nil {
				return err
			}
			if err := checkWords("--format", []string{format}, []string{"csv", "zarr"}); err != nil {
				return err
			}
			if format == "zarr" && out == "" {
				return usagef("--format zarr: it is a folder, name one with --out")
			}
			p, err := newPrediction(args[0], args[1], draws, seed)
			if err != nil {
				return err
			}
			if format == "zarr" {
				files, err := p.predictionFiles()
				if err != nil {
					return failWith(statusNumeric, err)
				}
				return a.writeFiles(files, true, out)
			}
			result, err := p.table()
			if err != nil {
				return err
			}
			if out == "" {
				return a.result(result, func(w io.Writer) { writeCSV(w, result) })
			}
			var b bytes.Buffer
			writeCSV(&b, result)
			if err := renameio.WriteFile(out, b.Bytes(), 0o644); err != nil {
				return failWith(statusNumeric, fmt.Errorf("--out: %w", err))
			}
			result.Out, result.Rows = out, nil
			return a.result(result, func(w io.Writer) {
				if !a.quiet {
					fmt.Fprintf(w, "%s: predictions for %d rows\n", out, result.N)
				}
			})
		},
	}
	c.Flags().StringVar(&format, "format", "csv", "csv or zarr")
	c.Flags().StringVar(&out, "out", "", "CSV `FILE` to write (default stdout); for zarr a new folder")
	c.Flags().IntVar(&draws, "draws", 1000, "posterior draws to average over")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the draws, which is public")
	return c
}

// prediction is new rows, draws from a release, and public randomness for the
// responses.
type prediction struct {
	run    *released
	rows   predict.Rows
	theta  []float64 // [S x P]
	random *publicRandom
}

// newPrediction reads a release and the new rows of a file.
func newPrediction(run, path string, draws int, seed uint64) (*prediction, error) {
	r, err := readReleased(run)
	if err != nil {
		return nil, err
	}
	rows, err := privacy.ReadNewRows(path, r.model.Encoding.Predictors())
	if err != nil {
		return nil, failWith(statusData, fileError(path, err))
	}
	root := noise.Public(seed)
	p := &prediction{
		run: r, rows: predict.Rows{Data: rows.F64, N: rows.N, Stride: rows.Stride, Valid: rows.Valid},
		theta: make([]float64, draws*r.model.P), random: &publicRandom{stream: root.Stream(noise.Prediction)},
	}
	r.posterior.Draws(p.theta, root.Stream(noise.PosteriorDraws))
	return p, nil
}

// table predicts every row.
func (p *prediction) table() (*predictResult, error) {
	banner := p.run.params.Privacy
	result := &predictResult{N: p.rows.N, Columns: predictionColumns(p.run.model, banner)}
	err := predict.Predict(p.run.model, p.theta, p.rows, p.random, func(i int, predicted []predict.Row) error {
		line := []string{strconv.Itoa(i + 1)}
		for _, row := range predicted {
			line = append(line, cells(row)...)
		}
		if banner != "" {
			line = append(line, banner)
		}
		result.Rows = append(result.Rows, line)
		return nil
	})
	return result, failWith(statusNumeric, err)
}

// predictionColumns names the columns: with several observations, each has its
// own, prefixed by its name.
func predictionColumns(m *models.Model, banner string) []string {
	columns := []string{"row"}
	for _, o := range m.Observed {
		prefix := ""
		if len(m.Observed) > 1 {
			prefix = o.Name + "."
		}
		for _, name := range []string{"mean", "sd", "q5", "q95", "y_q5", "y_q95"} {
			columns = append(columns, prefix+name)
		}
	}
	if banner != "" {
		columns = append(columns, "privacy")
	}
	return columns
}

// cells are the six cells of one prediction; what does not exist is empty.
func cells(p predict.Row) []string {
	out := make([]string, 6)
	if !p.OK {
		return out
	}
	for i, x := range []float64{p.Mean, p.SD, p.Q5, p.Q95, p.YQ5, p.YQ95} {
		if p.HasMean || i >= 4 {
			out[i] = strconv.FormatFloat(x, 'g', 8, 64)
		}
	}
	return out
}

func writeCSV(w io.Writer, r *predictResult) {
	out := csv.NewWriter(w)
	out.Write(r.Columns)
	out.WriteAll(r.Rows)
}

// publicRandom makes a stream a source for drawing responses.
type publicRandom struct {
	stream  *noise.Stream
	normals [64]float64
	left    int
}

// Normal returns a draw from N(0, 1).
func (r *publicRandom) Normal() float64 {
	if r.left == 0 {
		r.stream.Normals(r.normals[:])
		r.left = len(r.normals)
	}
	r.left--
	return r.normals[r.left]
}

// Uniform returns a draw from [0, 1).
func (r *publicRandom) Uniform() float64 { return r.stream.Float64() }

// Uint64 returns 64 random bits.
func (r *publicRandom) Uint64() uint64 { return r.stream.Uint64() }
