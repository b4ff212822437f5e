package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/prediction"
	"d3p/cmd/d3p/internal/released"
	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/models/spec"
	"d3p/internal/posterior"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/status"
	"d3p/internal/synthesis"
	"d3p/internal/table1"
)

// twinResult is the JSON form of `d3p twin`.
type twinResult struct {
	Files   []string `json:"files"`
	Grid    string   `json:"grid,omitempty"`
	Rows    int      `json:"rows"` // of each file
	Draws   int      `json:"draws"`
	Seed    uint64   `json:"seed"`
	Privacy string   `json:"privacy,omitempty"` // set if nothing protects the records
}

// twinSettings are the size of a twin, and the output.
type twinSettings struct {
	out, grid   string
	report      string // file of the report on the table
	images      int    // of the grid
	rows, draws int    // 0: not given
	separate    bool
	asFitted    bool // a mixture without Table 1
	seed        uint64
}

const defaultTwinDraws = 100

func newTwin(a *app) *cobra.Command {
	var s twinSettings
	c := &cobra.Command{
		Use:   "twin RUN",
		Short: "Draw a synthetic table from a finished fit",
		Long: `Twin draws records from the posterior predictive distribution of a model that
describes whole records: a twin: block, or core blocks that observe every column
they read. It draws parameters, then records, and redraws records that break a
declared constraint. The table is in the unit of the data file and within the
declared bounds; missing cells are empty. A mixture's table has the columns of the
Table 1 that the fit bought. Without Table 1 nothing tells whether it is worse than
independent columns, so d3p draws none; with --as-fitted it does.

With --separate every draw of the parameters gets its own table, NAME-1, NAME-2,
... Estimate from each table and combine the results with d3p combine, which keeps
the uncertainty of the fit.

A model of images writes their pixels as columns, or with --out FILE.npy as an array
for NumPy. --grid draws images side by side: the expected pixels of codes drawn from
their prior, without the noise of single pixels. With --grid alone d3p writes no
table.

--report writes the page release/utility.md of a table by marginals: how far the table
is expected to be from the records, the worst pairs, the rules, a picture of every
column and of the strongest pairs, and what such a table is not good for. The page of
a mixture has less: only its columns have distances.

The block output: twin: of the model file has the defaults. Without it a twin has as
many rows as the declaration has records. Twin needs the release only and costs no
privacy; the claim of the release covers the table.`,
		Example: "  d3p twin d3p-run-cohort_twin-1 --out twin.csv\n  d3p twin d3p-run-cohort_twin-1 --out twin.parquet --separate --draws 20\n" +
			"  d3p twin d3p-run-mnist_vae-1 --out images.npy --rows 1000\n  d3p twin d3p-run-mnist_vae-1 --grid samples.png --images 64",
		Args: exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			for name, value := range map[string]int{"rows": s.rows, "draws": s.draws, "images": s.images} {
				if c.Flags().Changed(name) && value < 1 {
					return status.Usagef("--%s: %d is less than 1", name, value)
				}
			}
			r, err := a.releases.ReadAny(c.Context(), args[0])
			if err != nil {
				return err
			}
			if !c.Flags().Changed("separate") {
				s.separate = r.Model.Spec.Output.Twin.Separate.V
			}
			return a.twin(r, s.withDefaults(r.Model.Spec))
		},
	}
	s.addFlags(c)
	a.unverifiedFlag(c)
	return c
}

// addFlags adds the flags of the settings to the command.
func (s *twinSettings) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&s.out, "out", "", "`FILE` to write, .csv, .parquet or .npy (default stdout)")
	c.Flags().StringVar(&s.report, "report", "", "`FILE` for a report on the table's quality and unsuitable uses, instead of a table")
	c.Flags().StringVar(&s.grid, "grid", "", "PNG `FILE` to draw images in, for models of images")
	c.Flags().IntVar(&s.images, "images", 100, "images in --grid")
	c.Flags().IntVar(&s.rows, "rows", 0, "rows of the table, of each with --separate (default the model file's)")
	c.Flags().IntVar(&s.draws, "draws", 0, "draws of the parameters (default the model file's, or 100)")
	c.Flags().BoolVar(&s.separate, "separate", false, "a table for each draw of the parameters")
	c.Flags().BoolVar(&s.asFitted, "as-fitted", false, "draw a mixture that was fitted without Table 1")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "seed of the draws, which is public")
}

// withDefaults fills in missing flags: from the model file, else the table has the declared
// size.
func (s twinSettings) withDefaults(m *spec.Spec) twinSettings {
	o := m.Output.Twin
	s.draws = cmp.Or(s.draws, o.ParameterDraws.Or(defaultTwinDraws))
	if s.rows == 0 {
		s.rows = m.Data.Rows.N()
		if o.RowsPerDraw.IsSet() {
			s.rows = o.RowsPerDraw.V
			if !s.separate {
				s.rows *= s.draws
			}
		}
	}
	if !s.separate {
		s.draws = min(s.draws, s.rows)
	}
	return s
}

// twin draws and writes the tables and the grid of images.
func (a *app) twin(r *released.Release, s twinSettings) error {
	files := 1
	if s.separate {
		files = s.draws
		if s.out == "" {
			return status.Usagef("--separate needs --out with the name of the files")
		}
	}
	paths, err := outfile.TablePaths(s.out, r.Model.Spec.Output.Twin.Format.Or("csv"), files)
	if err != nil {
		return err
	}
	twin, err := simulate.NewTwin(r.Model)
	if err != nil {
		return status.With(status.Spec, err)
	}
	if s.report != "" {
		page, err := a.twinPage(r, s, twin)
		if err != nil {
			return err
		}
		if err := outfile.Write(s.report, []byte(page)); err != nil {
			return err
		}
		a.notef("%s: written", s.report)
		if s.out == "" && s.grid == "" {
			return nil
		}
	}
	if r.Marginals != nil && s.grid != "" {
		return status.Usagef("--grid: a synthetic table by marginals has no images")
	}
	result := twinResult{Files: []string{}, Draws: s.draws, Seed: s.seed, Privacy: r.Params.Privacy}
	if s.grid != "" {
		if err := s.drawGrid(r); err != nil {
			return err
		}
		result.Grid = s.grid
	}
	if s.out != "" || s.grid == "" {
		if err := a.writeTwin(r, s, twin, paths, files); err != nil || len(paths) == 0 {
			return err
		}
		result.Files, result.Rows = paths, s.rows
	}
	return a.result(result, func(w io.Writer) {
		if a.quiet {
			return
		}
		for _, path := range result.Files {
			fmt.Fprintf(w, "%s: %d synthetic rows\n", path, s.rows)
		}
		if s.grid != "" {
			fmt.Fprintf(w, "%s: %d images\n", s.grid, s.images)
		}
	})
}

// twinPage is the page about a table.
func (a *app) twinPage(r *released.Release, s twinSettings, twin *simulate.Twin) (string, error) {
	if r.Marginals != nil {
		return r.Marginals.Utility(r.Model), nil
	}
	if !isMixture(r.Model) {
		return "", status.Usagef("--report: only a twin has a page (write a block `twin:`)")
	}
	s.asFitted, s.separate = false, false
	d, err := a.newMixtureDraws(r, s, twin)
	if err != nil {
		return "", err
	}
	x := synthesis.NewMixture(d.law, twin)
	err = x.Fill(twin, twin.Table(s.rows), func(t simulate.Table) error { return d.twinDraws.fill(twin, t, s.draws) }, d.random)
	if err != nil {
		return "", status.With(status.Numeric, err)
	}
	return x.Utility(r.Model, d.components(), r.Params.Privacy), nil
}

// isMixture reports whether a model is a table by a mixture.
func isMixture(m *models.Model) bool {
	return m.Spec.Twin != nil && !m.ByMarginals() && len(m.Spec.Data.Tensors) == 0
}

// writeTwin draws synthetic tables into files, or one to stdout.
func (a *app) writeTwin(r *released.Release, s twinSettings, twin *simulate.Twin, paths []string, files int) error {
	a.newProgress().Phase("drawing the table")
	fill := newTwinDraws(r, s.seed).fill
	if r.Marginals != nil {
		drawer, err := a.newMarginalDraws(r, s)
		if err != nil {
			return err
		}
		defer drawer.Close()
		fill = drawer.fill
	} else if isMixture(r.Model) {
		mixture, err := a.newMixtureDraws(r, s, twin)
		if err != nil {
			return err
		}
		if mixture != nil {
			fill = mixture.fill
		}
	}
	for i := range files {
		table := twin.Table(s.rows)
		if err := fill(twin, table, s.draws/files); err != nil {
			return err
		}
		if len(paths) == 0 {
			a.progress.Clear()
			return a.printRows(table, r.Params.Privacy)
		}
		if err := outfile.WriteTable(paths[i], table, r.Params.Privacy, twinMetadata(r)); err != nil {
			return err
		}
	}
	return nil
}

// twinDraws draws parameters one after the other, and records from each.
type twinDraws struct {
	run   *released.Release
	theta []float64
	draws posterior.Normals
	rng   *noise.Random
}

func newTwinDraws(r *released.Release, seed uint64) *twinDraws {
	root := noise.Public(seed)
	if r.Marginals != nil {
		return &twinDraws{}
	}
	return &twinDraws{r, make([]float64, r.Model.P), root.Stream(noise.PosteriorDraws), noise.NewRandom(root.Stream(noise.Twin))}
}

// fill draws n times from the posterior. Draw d fills the rows of the table from d·rows/n
// on.
func (t *twinDraws) fill(twin *simulate.Twin, table simulate.Table, n int) error {
	rows := len(table.Values[0])
	for d := range n {
		t.run.Posterior.Draws(t.theta, t.draws)
		first, next := d*rows/n, (d+1)*rows/n
		if err := twin.Draw(table, first, next-first, t.theta, t.rng); err != nil {
			return status.With(status.Numeric, err)
		}
	}
	return nil
}

// mixtureDraws draws tables that have the columns of Table 1, and as much of the mixture's
// relations as agrees with Table 1.
type mixtureDraws struct {
	*app
	*twinDraws
	law      *law.Law
	separate bool
	random   *noise.Random
	warned   bool
}

// newMixtureDraws returns an error if Table 1 was not bought, or nil if it need not be.
func (a *app) newMixtureDraws(r *released.Release, s twinSettings, twin *simulate.Twin) (*mixtureDraws, error) {
	l, err := table1.LawOf(r.Privacy.Table1, &r.Model.Spec.Data)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	if synthesis.NewMixture(l, twin) == nil {
		if s.asFitted {
			return nil, nil
		}
		return nil, status.Usagef("the fit bought no Table 1, so d3p cannot compare the mixture's table with independent columns, which are often better (fit with `engine: marginals` or --table1 auto, or type --as-fitted to draw it anyway)")
	}
	random := noise.NewRandom(noise.Public(s.seed).Stream(noise.Simulation))
	return &mixtureDraws{a, newTwinDraws(r, s.seed), l, s.separate, random, false}, nil
}

// fill fills a table. With --separate it draws from a law that could have given the bought
// Table 1.
func (d *mixtureDraws) fill(twin *simulate.Twin, table simulate.Table, n int) error {
	l := d.law
	if d.separate {
		l = l.Drawn(d.random)
	}
	x := synthesis.NewMixture(l, twin)
	err := x.Fill(twin, table, func(t simulate.Table) error { return d.twinDraws.fill(twin, t, n) }, d.random)
	if err == nil && !d.warned {
		d.warned = true
		d.warnf("%.0f %% of the rows are the mixture's, the others are drawn from Table 1: the mixture agrees with it no further (`engine: marginals` keeps more and states its distance)", 100*x.Share)
		if c := d.components(); c.Used < c.All {
			d.warnf("%d of %d components have a weight of at least 1 %%", c.Used, c.All)
		}
	}
	return status.With(status.Numeric, err)
}

// components are those of the fitted mixture.
func (d *mixtureDraws) components() (c synthesis.Components) {
	m := d.twinDraws.run.Model
	values := make([]float64, m.Constrained)
	m.Constrain(values, d.twinDraws.run.Posterior.Mean)
	for _, p := range m.Params {
		if p.Name != "weights" {
			continue
		}
		for _, w := range values[p.At : p.At+p.ConstrainedSize] {
			c.All++
			if w >= 0.01 {
				c.Used++
			}
		}
	}
	return c
}

// marginalDraws draws tables from the released tables of counts.
type marginalDraws struct {
	*synthesis.Drawer
	separate bool
	rng      *noise.Random
}

// noisyCounts is the noise of counts, as a share of the records, from which intervals of
// quantiles in tails hold too rarely.
const noisyCounts = 0.04

// warnOfLimits warns of intervals that may not hold. The warning begins with the name of a
// flag.
func (a *app) warnOfLimits(flag string, limits synthesis.Limits) {
	if limits.Shrunk {
		a.warnf("%s: the workload has too many tables, so relations are shrunk towards independence; do not trust intervals from them (fit again with only the pairs of your analysis under `workload:`, which leaves other columns independent, or fit the question itself)", flag)
	} else if limits.Noise > noisyCounts {
		a.warnf("%s: counts of single columns have noise of %.1f %% of the records, which widens tails; of 90 %% intervals of the quantiles at 10 and 90 %% only 80 %% held, of others 91 %% (more records, fewer columns or a larger --epsilon would help)", flag, 100*limits.Noise)
	}
}

func (a *app) newMarginalDraws(r *released.Release, s twinSettings) (*marginalDraws, error) {
	drawer, err := synthesis.NewDrawer(r.Marginals, r.Model, s.separate, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, status.With(status.Spec, fmt.Errorf("%s: %w", report.MarginalsName, err))
	}
	if list := r.Marginals.Contradicted(); list != nil {
		a.warnf("the constraints contradict the counts of %s: the table is far from the records (see that each rule holds in them; fit again without the ones that do not)", strings.Join(list, ", "))
	}
	if n := r.Model.Spec.Data.Rows.Public.V; r.Marginals.Unusable(n) {
		several := ""
		if u := r.Model.Spec.Data.Unit; u.RowsPerUnit.V > 1 {
			several = fmt.Sprintf("`rows:` must be the number of units, each a %s with up to %d rows; ", u.Entity.V, u.RowsPerUnit.V)
		}
		a.warnf("by the noisy counts only about %.0f of %d records are usable (%sthe others have a level that `levels:` does not declare, or lack a value that `missing:` asks for; private/datacheck.json counts them)", r.Marginals.Records, n, several)
	}
	if list := r.Marginals.Unread(); list != nil {
		a.warnf("nearly all values of %s are missing (if the file has them, it writes them otherwise than declared: see `levels:`, `dates:`, `missing_tokens:`, and the counts in private/datacheck.json)", strings.Join(list, ", "))
	}
	if s.separate {
		limits, err := synthesis.LimitsOf(r.Marginals, r.Model)
		if err != nil {
			return nil, err
		}
		a.warnOfLimits("--separate", limits)
	}
	return &marginalDraws{drawer, s.separate, noise.NewRandom(noise.Public(s.seed).Stream(noise.Twin))}, nil
}

// fill fills a table. With --separate it draws parameters for it, else it takes those
// fitted to the released counts and the least randomness.
func (d *marginalDraws) fill(_ *simulate.Twin, table simulate.Table, _ int) error {
	if d.separate {
		d.Perturb(d.rng)
	}
	return status.With(status.Numeric, d.Fill(table, d.rng, d.separate))
}

// twinMetadata is the metadata of a Parquet file.
func twinMetadata(r *released.Release) map[string]string {
	claim := r.Privacy.Statements.OneLine
	if r.Params.Privacy != "" {
		claim = r.Params.Privacy
	}
	return map[string]string{"d3p.content": "synthetic table", "d3p.model": r.Model.Name, "d3p.run_id": r.Privacy.ReportID, "d3p.privacy": claim}
}

// drawGrid draws expected images from the release.
func (s twinSettings) drawGrid(r *released.Release) error {
	tensor, layout, err := prediction.ImagesOf(r.Model.Spec)
	if err != nil {
		return err
	}
	twin, err := simulate.NewTwin(r.Model)
	if err != nil {
		return status.With(status.Spec, err)
	}
	twin.ExpectArrays()
	table := twin.Table(s.images)
	if err := newTwinDraws(r, s.seed).fill(twin, table, min(s.draws, s.images)); err != nil {
		return err
	}
	first := slices.Index(table.Columns, tensor.Columns[0])
	if first < 0 {
		return status.Usagef("--grid: the model does not use tensor %s", tensor.Name.V)
	}
	images := make([][]float64, s.images)
	for i := range images {
		images[i] = make([]float64, layout.Size())
		for j := range images[i] {
			images[i][j] = table.Values[first+j][i]
		}
	}
	return prediction.WriteGrid(s.grid, layout, images, r)
}
