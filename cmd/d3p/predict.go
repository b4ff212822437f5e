package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/prediction"
	"d3p/cmd/d3p/internal/released"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/atomicfile"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/predict"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/score"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// predictResult is the JSON form of `d3p predict`: with --out, Rows is empty.
type predictResult struct {
	Out     string             `json:"out,omitempty"`
	Grid    string             `json:"grid,omitempty"`
	N       int                `json:"n"`
	Columns []string           `json:"columns"`
	Rows    [][]string         `json:"rows,omitempty"`
	Metrics []score.LocalScore `json:"metrics,omitempty"`
}

// predictSettings are the draws for predictions, and the output.
type predictSettings struct {
	out, format, grid string
	against           string // the file of counterparts; "" predicts without one
	images            int    // of the grid
	draws             int    // 0: not given
	prob              float64
	seed              uint64
	metrics           bool
}

// Default numbers of draws to average over: posterior draws, and draws of local latents at
// a point.
const (
	defaultPredictDraws = 1000
	defaultLatentDraws  = 10
)

func newPredict(a *app) *cobra.Command {
	var s predictSettings
	c := &cobra.Command{
		Use:   "predict RUN NEW",
		Short: "Predict the response for new rows, or reconstruct them",
		Long: `Predict reads new rows and writes one line per row: mean, sd and the 5 % to 95 %
interval of the expected response over the posterior (empty where that is a point),
and y_q5 to y_q95 of an observed response. For a category it writes the most probable level (class) and the
probability of every level. A row without a needed value gets empty cells. The rows
are CSV, Parquet, idx, npy or CIFAR-10, or CSV from - for standard input; they need the
columns of the predictors only.

A model with local latents, such as an auto-encoder, reconstructs rows. It needs all
their columns, draws codes from the guide, and writes bound, the lower bound on the
log density of the row in nats, and the expected values of the observed columns.
--grid draws the first images above their reconstructions.

With --format zarr the folder --out gets idata.zarr with ArviZ's groups predictions
(every draw of the response, by row) and predictions_constant_data (the rows).

--against OTHER compares each row with the row in the same place of OTHER, for
instance the same people treated and not treated. It writes the difference and
ratio of the expected responses with their intervals, and at the end those of the
averages over all rows (standardised effects).

--metrics compares the predictions with the responses in NEW: accuracy, area under
the ROC curve, Brier and log score of a category, errors of a number.

Predict needs the release only and costs no privacy. Nothing protects the new rows.`,
		Example: "  d3p predict d3p-run-cohort-1 new.csv --out predictions.csv\n  d3p predict d3p-run-cohort-1 new.csv --format zarr --out predictions\n  d3p predict d3p-run-cohort-1 test.csv --metrics\n  d3p predict d3p-run-cohort-1 new.csv --against other.csv\n" +
			"  d3p predict d3p-run-mnist_vae-1 t10k-images-idx3-ubyte.gz --out bounds.csv --grid seen.png",
		Args: exactly("RUN", "NEW"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.check(c.Flags().Changed("draws"), args[1]); err != nil {
				return err
			}
			p, err := a.newPrediction(c.Context(), args[0], args[1], s)
			if err != nil {
				return err
			}
			if s.against != "" {
				return a.predictAgainst(p, s)
			}
			if s.format == "zarr" {
				files, err := p.Files()
				if err != nil {
					return err
				}
				return a.writeFiles(files, true, s.out)
			}
			return a.predict(p, args[1], s)
		},
	}
	s.define(c)
	a.unverifiedFlag(c)
	return c
}

// define adds the flags.
func (s *predictSettings) define(c *cobra.Command) {
	c.Flags().StringVar(&s.format, "format", "csv", "csv or zarr")
	flags.CompleteWords(c, "format", []string{"csv", "zarr"})
	c.Flags().StringVar(&s.out, "out", "", "CSV `FILE` to write (default stdout); for zarr a new folder")
	c.Flags().StringVar(&s.against, "against", "", "`FILE` of rows to compare with, one by one: their difference is the contrast")
	c.Flags().StringVar(&s.grid, "grid", "", "PNG `FILE` to draw images and their reconstructions in")
	c.Flags().BoolVar(&s.metrics, "metrics", false, "compare with the responses in NEW; without --out and --json print the scores alone")
	c.Flags().IntVar(&s.images, "images", 50, "images in --grid")
	c.Flags().IntVar(&s.draws, "draws", 0, fmt.Sprintf("draws to average over (default %d of the posterior, or %d of local latents)", defaultPredictDraws, defaultLatentDraws))
	c.Flags().Float64Var(&s.prob, "prob", usualProb, "probability of the intervals: 0.95 gives q2.5 and q97.5")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "seed of the draws, which is public")
}

// check refuses settings that are out of range or contradict one another. rows is the
// file of new rows.
func (s predictSettings) check(drawsGiven bool, rows string) error {
	if drawsGiven {
		if err := released.CheckDraws(s.draws); err != nil {
			return err
		}
	}
	if err := checkProb(s.prob); err != nil {
		return err
	}
	if s.images < 1 {
		return status.Usagef("--images: %d is less than 1", s.images)
	}
	if err := flags.CheckWords("--format", []string{s.format}, []string{"csv", "zarr"}); err != nil {
		return err
	}
	if s.format == "csv" {
		if err := outfile.CheckEnd(s.out, ".csv"); err != nil {
			return err
		}
	}
	if s.against != "" && (s.format == "zarr" || s.grid != "" || s.against == "-" && rows == "-") {
		return status.Usagef("--against: it compares two tables, and writes CSV; leave --format zarr, --grid and the second - out")
	}
	if s.metrics && (s.format == "zarr" || s.against != "" || rows == "-") {
		return status.Usagef("--metrics: it reads the file of new rows a second time, and writes CSV; leave --format zarr, --against and - out")
	}
	if s.format == "zarr" && s.out == "" {
		return status.Usagef("--format zarr: it is a folder, name one with --out")
	}
	return nil
}

// predict writes the predictions as lines, images, and scores of the rows of a file.
func (a *app) predict(p *prediction.Prediction, path string, s predictSettings) error {
	var grid *prediction.Grid
	if s.grid != "" {
		var err error
		if grid, err = p.NewGrid(s.images); err != nil {
			return err
		}
	}
	outcomes := &outcomes{}
	if s.metrics {
		var err error
		if outcomes, err = readOutcomes(path, p.Run.Model); err != nil {
			return err
		}
	}
	result := &predictResult{Grid: s.grid, N: p.Rows.N, Columns: p.Columns()}
	var text bytes.Buffer
	lines := csv.NewWriter(&text)
	lines.Write(result.Columns) // writing to memory cannot fail
	err := predict.Predict(p.Run.Model, p.Posterior, p.Rows, p.Random, func(i int, predicted *predict.Prediction) error {
		if grid != nil {
			grid.Add(i, predicted)
		}
		outcomes.add(i, predicted)
		line := p.Line(i, predicted)
		if a.json && s.out == "" {
			result.Rows = append(result.Rows, line)
			return nil
		}
		return lines.Write(line)
	})
	if err != nil {
		return status.With(status.Numeric, err)
	}
	lines.Flush()
	if grid != nil {
		if err := grid.Write(s.grid, p.Run); err != nil {
			return err
		}
	}
	result.Metrics = outcomes.scores()
	if s.metrics && !slices.ContainsFunc(result.Metrics, func(m score.LocalScore) bool { return m.Rows > 0 }) {
		a.warnf("no row of %s has a prediction and a response as declared (d3p check MODEL --data %s --show counts the cells that are not)", path, spell.Word(path))
	}
	if s.metrics && s.out == "" {
		return a.result(result, result.printMetrics)
	}
	return a.writeLines(result, text.Bytes(), s.out, "predictions for %d rows")
}

// outcomes are the responses of new rows, and the scores of their predictions.
type outcomes struct {
	rows   predict.Rows
	locals []*score.Local
}

// readOutcomes reads the responses of the rows of a file.
func readOutcomes(path string, m *models.Model) (*outcomes, error) {
	if m.Reconstruct != nil {
		return nil, status.Usagef("--metrics: a model with local latents predicts no response; bound scores a row")
	}
	locals, read, err := score.Locals(m)
	if err != nil {
		return nil, status.Usagef("--metrics: %v", err)
	}
	rows, _, err := privacy.ReadNewRows(path, read)
	if err != nil {
		return nil, status.With(status.Data, fmt.Errorf("--metrics: %w", atomicfile.Named(path, err)))
	}
	return &outcomes{predict.Rows{Data: rows.F64, N: rows.N, Stride: rows.Stride, Valid: rows.Valid}, locals}, nil
}

// add adds the prediction of a row, unless the prediction or a response is missing.
func (o *outcomes) add(row int, p *predict.Prediction) {
	for i, l := range o.locals {
		if p.OK && o.rows.Valid[row] {
			l.Add(&p.Targets[i], o.rows.Data[row*o.rows.Stride:])
		}
	}
}

func (o *outcomes) scores() (list []score.LocalScore) {
	for _, l := range o.locals {
		list = append(list, l.Scores()...)
	}
	return list
}

// printMetrics prints the scores as a table.
func (r *predictResult) printMetrics(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "column\tscore\tvalue\trows\n")
	for _, m := range r.Metrics {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\n", m.Column, m.Name, known(m.Value), m.Rows)
	}
	t.Flush()
}

// writeLines writes lines of CSV to out, or to stdout; what describes them.
func (a *app) writeLines(result *predictResult, text []byte, out, what string) error {
	if out == "" && !a.json {
		return a.printTable(func(w io.Writer) error {
			_, err := terminal.Plain{To: w}.Write(text)
			return err
		})
	}
	if out == "" {
		return a.result(result, nil)
	}
	if err := outfile.Write(out, text); err != nil {
		return status.With(status.Numeric, fmt.Errorf("--out: %w", err))
	}
	result.Out, result.Rows = out, nil
	return a.result(result, func(w io.Writer) {
		if !a.quiet {
			fmt.Fprintf(w, "%s: "+what+"\n", out, result.N)
		}
		if len(result.Metrics) > 0 {
			result.printMetrics(w)
		}
	})
}

// predictAgainst compares the expected response of each row with that of the same row of
// another file, and compares the averages over all rows.
func (a *app) predictAgainst(p *prediction.Prediction, s predictSettings) error {
	others, err := a.readNewRows(s.against, p.Run.Model)
	if err != nil {
		return err
	}
	if others.N != p.Rows.N {
		return status.With(status.Data, fmt.Errorf("--against: %s has %d rows, the new rows are %d; each is compared with the one in its place", s.against, others.N, p.Rows.N))
	}
	result := &predictResult{N: p.Rows.N, Columns: append([]string{"row"}, predict.ContrastColumns(s.prob)...)}
	banner := p.Run.Params.Privacy
	if banner != "" {
		result.Columns = append(result.Columns, "privacy")
	}
	line := func(name string, c predict.Contrast) {
		cells := append([]string{name}, c.Cells()...)
		if banner != "" {
			cells = append(cells, banner)
		}
		result.Rows = append(result.Rows, cells)
	}
	average, err := predict.Compare(p.Run.Model, p.Posterior, p.Rows, others, p.Random, func(row int, c predict.Contrast) error {
		line(strconv.Itoa(row+1), c)
		return nil
	})
	switch {
	case errors.Is(err, predict.ErrNoContrast):
		return status.Usagef("--against: %w, as a regression of a number, a count or 0/1 has", err)
	case err != nil:
		return status.With(status.Numeric, err)
	}
	line("average", average)
	var text bytes.Buffer
	lines := csv.NewWriter(&text)
	lines.Write(result.Columns) // writing to memory cannot fail
	lines.WriteAll(result.Rows)
	return a.writeLines(result, text.Bytes(), s.out, "contrasts of %d rows and of their average")
}

// readNewRows reads the rows of a file (- is standard input) for predictions by m, and
// reports how many of them lack a value that m needs.
func (a *app) readNewRows(path string, m *models.Model) (predict.Rows, error) {
	path = orStandardInput(path)
	read := predict.EncodingOf(m)
	rows, check, err := privacy.ReadNewRows(path, read)
	if err != nil {
		return predict.Rows{}, status.With(status.Data, atomicfile.Named(path, err))
	}
	outside := outsideOf(check)
	if check.Rejected > 0 {
		var why []string
		if m.Spec.Data.OutOfRange.V == data.MissingReject {
			why, outside = outside, nil
		}
		for _, c := range check.Columns {
			if !slices.ContainsFunc(read.Fields, func(f encoding.Field) bool { return f.Column == c.Column && f.Missing == encoding.MissingReject }) {
				continue
			}
			for _, count := range []struct {
				n    int
				what string
			}{{c.Missing, "missing"}, {c.Unparseable, "unreadable"}, {c.UnknownLevel, "of no declared level"}} {
				if count.n > 0 {
					why = append(why, fmt.Sprintf("%s %s in %d", c.Column, count.what, count.n))
				}
			}
		}
		a.notef("%s: no prediction for %d of %d rows (%s)", path, check.Rejected, rows.N, strings.Join(why, ", "))
	}
	if len(outside) > 0 {
		a.notef("%s: numbers outside the declared bounds are moved to them, as in the fit (%s)", path, strings.Join(outside, ", "))
	}
	return predict.Rows{Data: rows.F64, N: rows.N, Stride: rows.Stride, Valid: rows.Valid}, nil
}

// outsideOf says in how many rows each column is outside its bounds.
func outsideOf(check *privacy.DataCheck) (list []string) {
	for _, c := range check.Columns {
		if c.OutOfBounds > 0 {
			list = append(list, fmt.Sprintf("%s outside in %d", c.Column, c.OutOfBounds))
		}
	}
	return list
}

// noteOfPoint notes which outputs need a spread that a point lacks.
func (a *app) noteOfPoint(r *released.Release) {
	if r.Point() && r.Model.Reconstruct == nil {
		a.notef("note: the posterior is a point (guide delta): how certain an expected response is, is not known")
	}
}

// newPrediction reads a release and the new rows of a file.
func (a *app) newPrediction(ctx context.Context, run, path string, s predictSettings) (*prediction.Prediction, error) {
	r, err := a.releases.Read(ctx, run)
	if err != nil {
		return nil, err
	}
	rows, err := a.readNewRows(path, r.Model)
	if err != nil {
		return nil, err
	}
	root := noise.Public(s.seed)
	p := &prediction.Prediction{
		Run: r, Rows: rows,
		Targets: predict.Targets(r.Model), Random: noise.NewRandom(root.Stream(noise.Prediction)),
	}
	p.Posterior = r.Predictive(s.draws, s.prob, root)
	a.noteOfPoint(r)
	if s.draws == 0 {
		p.Posterior.S = defaultPredictDraws
		if p.Posterior.Point && r.Model.Reconstruct != nil {
			p.Posterior.S = defaultLatentDraws
		}
	}
	return p, nil
}
