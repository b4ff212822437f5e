package run

import (
	"cmp"
	"errors"
	"os"
	"runtime"

	"d3p/internal/fit"
	"d3p/internal/privacy"
)

// settlePriors gives the plan the default priors that follow from the columns.
func (r Run) settlePriors(columns *privacy.Columns, private *os.Root) (*privacy.Curator, error) {
	curator, err := privacy.NewCurator(privacy.CuratorConfig{
		Columns: columns, Engine: r.engine.Engine, Root: r.Root, Budget: r.Plan.Budget(), Relation: r.Plan.Relation(), Private: private,
	})
	if err != nil {
		return nil, err
	}
	return curator, fit.SettlePriors(r.Plan, curator, r.Job.compile)
}

// curator reads the records of this process, makes the plan's purchases, and then encodes
// the records for the plan's model. The data check goes to the folder private, unless that
// is nil. With an error it returns the curator with its spending so far, or nil.
func (r Run) curator(private *os.Root) (*privacy.Curator, error) {
	spent, err := spentAt(r.checkpoint)
	if err != nil {
		return nil, err
	}
	if r.checkpoint != nil {
		if err := r.Plan.Bind(r.Model); err != nil {
			return nil, err
		}
	}
	config := privacy.CuratorConfig{
		Engine: r.engine.Engine, Root: r.Root, Spent: spent,
		Budget: r.Plan.Budget(), Relation: r.Plan.Relation(), Private: private,
	}
	if r.Ranks.Several() {
		config.Ranks = r.Ranks.inStep
	}
	if !r.Plan.OpenLevels() {
		return r.encode(config)
	}
	bought, err := r.buyLevels(config)
	if err != nil {
		return bought, err
	}
	config.Spent = bought.Ledger()
	curator, err := r.encode(config)
	if curator == nil {
		curator = bought
	}
	return curator, err
}

// encode is curator for a plan that has bought its levels.
func (r Run) encode(config privacy.CuratorConfig) (*privacy.Curator, error) {
	private := config.Private
	if r.Plan.OpenBounds() {
		return r.boundsCurator(config)
	}
	if r.Plan.ReadsColumns() {
		if config.Columns = r.columns; config.Columns == nil {
			config.Columns = r.columnsOf(r.Plan.Model(), private)
		}
		return privacy.NewCurator(config)
	}
	if !r.Plan.ToCount() {
		if config.Table = r.table; r.table == nil {
			config.Table = privacy.NewTable(r.tableConfig(r.Plan.Model(), r.Root, private))
		}
		return privacy.NewCurator(config)
	}
	own := r.columns == nil
	if config.Columns = r.columns; own {
		config.Columns = r.columnsOf(r.Plan.Model(), private)
	}
	curator, err := privacy.NewCurator(config)
	if err != nil {
		return nil, err
	}
	if err := fit.Buy(r.Plan, curator, r.Job.compile); err != nil {
		return curator, ownReason(err)
	}
	if own { // purchases change no encoded number, only derived ones
		return curator, curator.Encode(config.Columns.Table())
	}
	return curator, curator.Encode(privacy.NewTable(r.tableConfig(r.Plan.Model(), r.Root, private)))
}

// buyLevels makes the plan's purchases of levels. With an error it returns the curator with its
// spending so far, or nil.
func (r Run) buyLevels(config privacy.CuratorConfig) (*privacy.Curator, error) {
	curator, err := privacy.NewCurator(config)
	if err != nil {
		return nil, err
	}
	texts := func(column string) *privacy.Columns {
		return privacy.NewTexts(r.tableConfig(r.Model, r.Root, config.Private), column)
	}
	return curator, fit.BuyLevels(r.Plan, curator, texts, r.Job.compile)
}

// boundsCurator is curator for a plan that buys bounds first.
func (r Run) boundsCurator(config privacy.CuratorConfig) (*privacy.Curator, error) {
	private := config.Private
	config.Columns = r.columnsOf(r.Plan.Model(), private)
	curator, err := privacy.NewCurator(config)
	if err == nil {
		err = fit.BuyBounds(r.Plan, curator, r.Job.compile)
	}
	if err != nil {
		return curator, ownReason(err)
	}
	if !r.Plan.ToCount() {
		return curator, curator.Encode(privacy.NewTable(r.tableConfig(r.Plan.Model(), r.Root, private)))
	}
	columns := r.columnsOf(r.Plan.Model(), private)
	curator.Columns(columns)
	if err := fit.Buy(r.Plan, curator, r.Job.compile); err != nil {
		return curator, ownReason(err)
	}
	return curator, curator.Encode(columns.Table())
}

// ownReason is an error of this process; nil if another process failed, which reports the
// reason when all agree.
func ownReason(err error) error {
	var one *privacy.RankError
	if errors.As(err, &one) {
		return one.Own
	}
	return err
}

// curators opens a curator on the processor for each further chain of a sampler, with
// one thread each; nil for other engines, several processes, and jobs with one thread.
func (r Run) curators() *fit.Curators {
	threads := cmp.Or(r.Job.Threads, runtime.GOMAXPROCS(0))
	if threads == 1 || r.engine.Together > 1 || r.Ranks.Several() {
		return nil
	}
	one := r
	one.Job.Threads, one.Job.Device = 1, "cpu"
	return &fit.Curators{SideBySide: threads, Open: func(chain int) (*privacy.Curator, error) {
		chained := one
		var err error
		if chained.engine, err = r.Host.Open(one, 1); err != nil {
			return nil, err
		}
		chained.Root = r.Root.Child(uint64(chain))
		return chained.curator(nil)
	}}
}
