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
	"d3p/internal/report"
)

// predictResult is the JSON form of `d3p predict`: with --out, Rows is empty.
type predictResult struct {
	Out     string     `json:"out,omitempty"`
	N       int        `json:"n"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows,omitempty"`
}

func newPredict(a *app) *cobra.Command {
	var out string
	var draws int
	var seed uint64
	c := &cobra.Command{
		Use:   "predict RUN NEW",
		Short: "Predict the response for new rows",
		Long: `Predict reads new rows (CSV or Parquet, the columns that the model's predictors
need) and writes one line per row: mean, sd and 5 % to 95 % of the expected
response over the posterior, and y_q5 to y_q95 of a response that may be
observed. A row that lacks a value the model needs gets empty cells.

It uses the release alone, so it costs no privacy; the new rows are your own and
nothing protects them.`,
		Example: "  d3p predict d3p-run-cohort-1 new.csv --out predictions.csv",
		Args:    exactly("RUN", "NEW"),
		RunE: func(_ *cobra.Command, args []string) error {
			if draws < 2 {
				return usagef("--draws: %d is less than 2", draws)
			}
			result, err := predictions(args[0], args[1], draws, seed)
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
	c.Flags().StringVar(&out, "out", "", "CSV `FILE` to write (default stdout)")
	c.Flags().IntVar(&draws, "draws", 1000, "posterior draws to average over")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of the draws, which is public")
	return c
}

// predictions predicts every row of a file from a release.
func predictions(run, path string, draws int, seed uint64) (*predictResult, error) {
	model, params, posterior, err := report.ReadRelease(run)
	if err != nil {
		return nil, failWith(statusUsage, err)
	}
	s, err := parseSpec("spec.lock.yaml", model, func(name string) ([]byte, error) {
		return report.ReadPublic(run, name)
	})
	if err != nil {
		return nil, err
	}
	m, err := models.Compile(s)
	if err != nil {
		return nil, failWith(statusSpec, err)
	}
	if m.P != len(posterior.Mean) {
		return nil, failWith(statusSpec, fmt.Errorf("%s: params.json has %d parameters, the model %d", run, len(posterior.Mean), m.P))
	}
	rows, err := privacy.ReadNewRows(path, m.Encoding.Predictors())
	if err != nil {
		return nil, failWith(statusData, fileError(path, err))
	}
	theta := make([]float64, draws*m.P)
	root := noise.Public(seed)
	posterior.Draws(theta, root.Stream(noise.PosteriorDraws))

	result := &predictResult{N: rows.N, Columns: predictionColumns(m, params.Privacy)}
	random := &publicRandom{stream: root.Stream(noise.Prediction)}
	own := predict.Rows{Data: rows.F64, N: rows.N, Stride: rows.Stride, Valid: rows.Valid}
	err = predict.Predict(m, theta, own, random, func(i int, predicted []predict.Row) error {
		line := []string{strconv.Itoa(i + 1)}
		for _, p := range predicted {
			line = append(line, cells(p)...)
		}
		if params.Privacy != "" {
			line = append(line, params.Privacy)
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
