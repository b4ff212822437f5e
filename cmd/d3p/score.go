package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/released"
	"d3p/internal/atomicfile"
	"d3p/internal/cluster"
	"d3p/internal/ledger"
	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/run"
	"d3p/internal/score"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// scoreSettings are the release and records to score, and the price.
type scoreSettings struct {
	epsilon, delta       float64
	column, ledger, data string
	draws                int
	seed                 uint64
	above                []float64 // thresholds of checks
	public               bool      // TEST is public
}

// scoreResult is the JSON form of `d3p score`.
type scoreResult struct {
	Run         string         `json:"run"`
	Column      string         `json:"column"`
	Claim       string         `json:"claim"`
	Epsilon     float64        `json:"epsilon"`
	Delta       float64        `json:"delta"`
	Noise       float64        `json:"noise"` // standard deviation of the noise of every count
	Scores      []score.Metric `json:"scores"`
	Calibration []score.Bin    `json:"calibration,omitempty"`
	Edges       []float64      `json:"edges"`
	Counts      []float64      `json:"counts"`
}

func newScore(a *app) *cobra.Command {
	var s scoreSettings
	c := &cobra.Command{
		Use:   "score RUN TEST",
		Short: "Score a release on records that stay private",
		Long: `Score measures how well a release predicts the records of TEST, which stay private:
accuracy, area under the ROC curve, Brier score, log score and calibration of a
category; root mean squared error, mean absolute error and bias of a number.

It counts how often each prediction came with each outcome and adds noise to the
counts. That is one release with the given budget; all scores follow from it. Their
intervals include the noise and the number of records.

--above checks the posterior's predictions of a number: the share of records above each
threshold, as observed, as predicted, and the difference. Choose thresholds before you
see scores; each one is counted in the same release, with more noise for all.

--public is for a public TEST: without noise and price.

TEST has the columns of the model, the response too. If people in TEST are in the
table of the fit, the two releases add up: use --ledger, or the variable D3P_LEDGER as
for the fit, which books this one before it reads a record and refuses what exceeds
the limit.`,
		Example: "  d3p score d3p-run-cohort-1 test.csv --epsilon 0.5\n  d3p score d3p-run-cohort-1 test.csv --epsilon 0.2 --ledger cohort.ledger --json",
		Args:    exactly("RUN", "TEST"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cluster.OneProcess(); err != nil {
				return status.Usagef("%v", err)
			}
			s.data = args[1]
			switch {
			case s.public && (s.epsilon != 0 || s.delta != 0 || s.ledger != ""):
				return status.Usagef("--public: public records have no price; leave --epsilon, --delta and --ledger out")
			case !s.public && !c.Flags().Changed("epsilon"):
				return status.Usagef("--epsilon: missing: the price of the scores, as in --epsilon 0.5; or --public if TEST is public")
			case !s.public && (!(s.epsilon > 0) || math.IsInf(s.epsilon, 0)):
				return status.Usagef("--epsilon: %g is not positive; type the price of the scores, such as --epsilon 0.5, or --public if TEST is public", s.epsilon)
			}
			if s.delta < 0 || s.delta >= 1 || math.IsNaN(s.delta) {
				return status.Usagef("--delta: %g is not between 0 and 1", s.delta)
			}
			if err := released.CheckDraws(s.draws); err != nil {
				return err
			}
			return a.score(c, args[0], s)
		},
	}
	c.Flags().Float64Var(&s.epsilon, "epsilon", 0, "privacy budget ε of the scores")
	c.Flags().Float64Var(&s.delta, "delta", 0, "privacy budget δ (default the release's)")
	c.Flags().StringVar(&s.column, "column", "", "the response to score, of a model with several")
	c.Flags().StringVar(&s.ledger, "ledger", "", "`FILE` of the data set's ledger, in which the price is booked")
	c.Flags().IntVar(&s.draws, "draws", defaultPredictDraws, "draws of the posterior to average predictions over")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "seed of these draws, which is public")
	c.Flags().Float64SliceVar(&s.above, "above", nil, "`THRESHOLDS` of a number, separated by commas: check the share of records above each")
	c.Flags().BoolVar(&s.public, "public", false, "TEST is public: no noise, no price")
	a.unverifiedFlag(c)
	return c
}

// ledgerOf takes the ledger of private records from the variable of the setting, if no flag names it: who books all
// fits by the variable has the scores booked, too.
func (s *scoreSettings) ledgerOf(c *cobra.Command, e flags.Environment) error {
	name := settings.Variable("ledger")
	path, set := e.Lookup(name)
	if !set || s.public || c.Flags().Changed("ledger") {
		return nil
	}
	if _, wrong := settings.Named("ledger").Read(path); wrong != nil {
		return status.Usagef("%s: %w", name, wrong)
	}
	s.ledger = path
	return nil
}

// score books the price, counts, and prints the scores.
func (a *app) score(c *cobra.Command, folder string, s scoreSettings) error {
	if err := s.ledgerOf(c, a.environment()); err != nil {
		return err
	}
	r, err := a.releases.Read(c.Context(), folder)
	if err != nil {
		return err
	}
	public := noise.Public(s.seed)
	table, err := score.New(r.Model, r.Predictive(s.draws, usualProb, public), s.column, noise.NewRandom(public.Stream(noise.Prediction)))
	if err != nil {
		return status.With(status.Usage, err)
	}
	checks := make([]*score.Exceedance, len(s.above))
	placers := []privacy.Placer{table}
	for i, threshold := range s.above {
		if checks[i], err = table.Exceedance(threshold); err != nil {
			return status.Usagef("--above: %v", err)
		}
		placers = append(placers, checks[i])
	}
	result := scoreResult{Run: folder, Column: table.Target.Name, Edges: table.Edges, Claim: "no claim: " + s.data + " is public"}
	var counts [][]float64
	if s.public {
		counts, err = s.countPublic(r.Model.Encoding, placers)
	} else {
		if b := r.Privacy.Budget; b != nil && s.ledger == "" {
			a.warnf("%s is in the ledger of %s, and the price of its scores is in none: type --ledger FILE if people of TEST are in that data set", folder, b.Dataset)
		}
		counts, err = s.count(r, folder, placers, &result)
	}
	if err != nil {
		return err
	}
	result.Counts, result.Calibration = counts[0], table.Calibration(counts[0], result.Noise)
	random := noise.NewRandom(public.Stream(noise.Simulation))
	result.Scores = table.Metrics(counts[0], result.Noise, random)
	for i, check := range checks {
		result.Scores = append(result.Scores, check.Metrics(counts[i+1], result.Noise, random)...)
	}
	return a.result(result, func(w io.Writer) {
		result.print(w, r.Model.Observed[table.Target.Observation].Columns[table.Target.Column].LevelNames())
	})
}

// countPublic counts public records. Of a unit with too many rows it takes the first.
func (s *scoreSettings) countPublic(e encoding.Encoding, placers []privacy.Placer) ([][]float64, error) {
	e.Keep = encoding.KeepFirst
	rows, _, err := privacy.ReadNewRows(orStandardInput(s.data), e)
	if err != nil {
		return nil, status.With(status.Data, atomicfile.Named(s.data, err))
	}
	return privacy.CountPublic(rows, e.RowsPerUnit, placers...)
}

// count books the price, counts with noise, and adds the claim to the result.
func (s *scoreSettings) count(r *released.Release, folder string, placers []privacy.Placer, result *scoreResult) ([][]float64, error) {
	rel := event.Relation(r.Privacy.Neighbours.Relation)
	if s.delta == 0 {
		s.delta = 1e-5
		if g := r.Privacy.Guarantee; g != nil {
			s.delta = g.Delta
		}
	}
	counts := func(sigma float64) event.Event {
		list := make([]privacy.Partition, len(placers))
		for i := range list {
			list[i].Noise = sigma
		}
		return privacy.CountsEvent(list, rel)
	}
	price, err := accountant.CalibrateNoise(accountant.Target{Epsilon: s.epsilon, Delta: s.delta}, rel, counts)
	if err != nil {
		return nil, err
	}
	curator, root, err := curatorOf(r.Model, rel, s.data, privacy.Budget{Epsilon: s.epsilon, Delta: s.delta})
	if err != nil {
		return nil, err
	}
	defer root.Wipe()
	sigma := price.NoiseMultiplier
	if err := s.book(folder, r.Privacy.Unit.Entity, rel, counts(sigma)); err != nil {
		return nil, err
	}
	result.Epsilon, result.Delta, result.Noise = price.Certified.Upper, s.delta, sigma
	result.Claim = fmt.Sprintf("(%.4g, %.4g)-differential privacy for one %s of %s", result.Epsilon, s.delta, r.Privacy.Unit.Entity, s.data)
	noisy, err := curator.CountPlaced("score of "+nameOf(folder), sigma, placers...)
	return noisy, status.With(status.Budget, err)
}

// curatorOf is a curator of a file of records for a model, and the root of its noise.
func curatorOf(m *models.Model, rel event.Relation, data string, budget privacy.Budget) (*privacy.Curator, noise.Root, error) {
	root, err := noise.System()
	if err != nil {
		return nil, root, status.With(status.Numeric, err)
	}
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Table: privacy.NewTable(privacy.TableConfig{Data: orStandardInput(data), Encoding: m.Encoding, Precision: privacy.Float64, Root: root}),
		Root:  root, Budget: budget, Relation: rel,
	})
	if err != nil {
		root.Wipe()
		return nil, root, status.With(status.Data, atomicfile.Named(data, err))
	}
	return curator, root, nil
}

// book charges the ledger, if there is one, before a record is read.
func (s *scoreSettings) book(folder, entity string, rel event.Relation, ev event.Event) error {
	if s.ledger == "" {
		return nil
	}
	_, err := ledger.Update(s.ledger, func(book *ledger.Ledger) error {
		if err := run.SameClaim(book, entity, rel); err != nil {
			return err
		}
		id := run.NewID()
		named := ledger.Run{ID: id, Folder: "score-" + nameOf(folder), Attempt: id}
		if err := book.Reserve(named, ev, time.Now()); err != nil {
			return err
		}
		return book.Settle(named, ev, time.Now())
	})
	switch over := new(privacy.BudgetError); {
	case errors.As(err, &over):
		return status.With(status.Budget, fmt.Errorf("--ledger: %s: %w", s.ledger, err))
	case err != nil:
		return status.Usagef("--ledger: %w", err)
	}
	return nil
}

// print prints the scores as a table.
func (r *scoreResult) print(w io.Writer, levels []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "score\tvalue\tsd\tq5\tq95\n")
	for _, m := range r.Scores {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Name, known(m.Value), known(m.SD), known(m.Lower), known(m.Upper))
	}
	if len(r.Calibration) > 0 {
		fmt.Fprintf(t, "\npredicted %s\tobserved\tsd\trecords\t\n", levels[1])
		for _, b := range r.Calibration {
			fmt.Fprintf(t, "%.1f to %.1f\t%s\t%s\t%.0f\t\n", b.Lower, b.Upper, known(b.Observed), known(b.SD), b.Records)
		}
	}
	t.Flush()
	fmt.Fprintf(w, "\nClaim: %s\n", r.Claim)
	if r.Noise == 0 {
		fmt.Fprintln(w, "Intervals include that the records are a sample.")
		return
	}
	fmt.Fprintf(w, "The noise of a count has standard deviation %.3g. Intervals include it, and that the records are a sample.\n", r.Noise)
}

// known prints a number, or a mark if noise hides it.
func known(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}
