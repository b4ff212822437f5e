package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/ledger"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/signature"
)

// job is what a run needs besides its plan and its state: private/run.json,
// from which d3p resume goes on.
type job struct {
	ID string `json:"id"`
	// Attempts are the start of the run and its resumptions, as the ledger knows them.
	Attempts []string  `json:"attempts"`
	Folder   string    `json:"folder"` // its name, without where it is
	Created  time.Time `json:"created"`
	Data     string    `json:"data"` // absolute path
	Name     string    `json:"name"`
	Model    string    `json:"model"` // fully defaulted model file
	// Public are the public files that the model names, by path.
	Public      map[string][]byte `json:"public,omitempty"`
	ModelSHA256 string            `json:"model_sha256"`
	Command     []string          `json:"command"`
	Settings    []report.Applied  `json:"settings"`
	Accepted    []string          `json:"accepted"`
	Draws       int               `json:"draws"`
	Formats     []string          `json:"formats"`
	Seed        uint64            `json:"seed"`
	Threads     int               `json:"threads"`
	// CheckpointEvery is in seconds; 0 is the default.
	CheckpointEvery int    `json:"checkpoint_every,omitempty"`
	Precision       string `json:"precision,omitempty"` // empty: float32
	Insecure        bool   `json:"insecure"`
	Device          string `json:"device,omitempty"`     // as asked for; empty: auto
	MaxMemory       int    `json:"max_memory,omitempty"` // of the device, in MB; 0: nine tenths
	Engine          string `json:"engine,omitempty"`     // what it came to
	Ledger          string `json:"ledger,omitempty"`     // absolute path of the data set's ledger
	Sign            string `json:"sign,omitempty"`       // absolute path of the key that signs the release
}

// booking is the job's place in the ledger of the data set.
func (j job) booking() booking {
	return booking{j.Ledger, ledger.Run{ID: j.ID, Folder: j.Folder, Attempt: j.Attempts[len(j.Attempts)-1]}, j.Attempts}
}

// compile compiles the model as the release will have it. Draws from the prior depend
// on the order in which a model file states it, so that those of a release come from
// this model.
func (j job) compile() (*models.Model, error) {
	s, err := parseSpec("the model of the fit", []byte(j.Model), func(name string) ([]byte, error) {
		src, ok := j.Public[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return src, nil
	})
	if err != nil {
		return nil, err
	}
	m, err := models.Compile(s)
	return m, failWith(statusSpec, err)
}

// nextAttempt is the job as it goes on, or is settled, from here.
func (j job) nextAttempt() job {
	j.Attempts = append(slices.Clone(j.Attempts), runID())
	return j
}

// replicate is the k-th of several jobs like j, from 0, with a seed of its own. Its
// report says how to run it by itself.
func (j job) replicate(k int, folder runFolder) job {
	j.ID, j.Attempts, j.Folder, j.Seed = runID(), []string{runID()}, folder.name(), j.Seed+uint64(k)
	seed := strconv.FormatUint(j.Seed, 10)
	j.Settings = slices.Clone(j.Settings)
	for i := range j.Settings {
		if j.Settings[i].Name == "seed" {
			j.Settings[i].Value, j.Settings[i].Source = seed, "--repeat"
		}
	}
	shared := func(word string) bool {
		return strings.HasPrefix(word, "--repeat=") || strings.HasPrefix(word, "--seed=")
	}
	j.Command = append(slices.DeleteFunc(slices.Clone(j.Command), shared), "--seed="+seed)
	return j
}

// table is the job's table, not read yet. The root chooses among the rows of units
// that have too many.
func (j job) table(m *models.Model, root noise.Root) *privacy.Table {
	cfg := privacy.TableConfig{
		Data: j.Data, Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: root,
	}
	if j.Precision == "float64" {
		cfg.Precision = privacy.Float64
	}
	return privacy.NewTable(cfg)
}

// What fits side by side share.
type shared struct {
	table  *privacy.Table
	key    *signature.Key // signs the releases; nil: they are not signed
	engine privacy.Engine // nil: what --device asks for, opened for this job
}

// execute runs a job in its folder: a new one, or what a checkpoint left to do.
func (a *app) execute(ctx context.Context, folder runFolder, j job, m *models.Model, plan *plan.Plan, from shared, root noise.Root, checkpoint *fit.Checkpoint) error {
	discard := func() {} // of a stopped fit nothing goes
	if checkpoint == nil {
		unlock, err := folder.lock() // d3p resume has the lock already
		if err != nil {
			folder.discard()
			return err
		}
		defer unlock()
		discard = folder.discard
	}
	released, err := j.compile()
	if err != nil {
		discard()
		return err
	}
	engine := from.engine
	if engine == nil {
		own, closeEngine, err := a.openEngine(j, m, plan, 1)
		if err != nil {
			discard()
			return err
		}
		defer closeEngine()
		engine = own
	}
	j.Engine = engine.Name()
	// What can fail for lack of space fails before privacy is spent.
	if err := folder.prepare(j, releaseBytes(m, j.Draws)); err != nil {
		discard()
		return err
	}
	if err := j.booking().reserve(m.Spec.Data.Unit.Entity.V, plan); err != nil {
		folder.giveSpaceBack()
		discard()
		return err
	}
	private, err := folder.root.OpenRoot(privateName)
	if err != nil {
		return failWith(statusNumeric, err)
	}
	defer private.Close()
	config := privacy.CuratorConfig{
		Table: from.table, Engine: engine, Root: root,
		Budget: plan.Budget(), Relation: plan.Relation(), Private: private,
	}
	if checkpoint != nil {
		var err error
		if config.Spent, err = heldBy(checkpoint); err != nil {
			return err
		}
	}
	curator, err := privacy.NewCurator(config)
	if err != nil {
		if checkpoint == nil {
			folder.keepDataCheck()
		}
		err = fileError(j.Data, err)
		if unbooked := j.booking().settle(config.Spent); unbooked != nil {
			err = errors.Join(err, unbooked)
		}
		return failWith(statusData, err)
	}
	var result fit.Result
	keeper := a.newKeeper(folder, j.CheckpointEvery)
	if checkpoint == nil {
		result, err = fit.Run(ctx, plan, curator, keeper)
	} else {
		result, err = fit.Resume(ctx, *checkpoint, m, curator, keeper)
	}
	keeper.stop()
	if len(result.Spent.Entries) > 0 {
		err = errors.Join(err, folder.write(ledgerFile, result.Spent))
	}
	unbooked := j.booking().settle(result.Spent)
	if err == nil && unbooked == nil {
		return a.release(folder, j, released, result, from.key)
	}
	if err == nil {
		err, unbooked = unbooked, nil
	}
	err = a.stopped(folder, result, err, checkpoint != nil)
	return failWith(statusOf(err), errors.Join(err, unbooked))
}

// releaseBytes bounds the size of a release and its checkpoint: the draws as
// text and as numbers, weights of networks, the numbers of the optimizer's state
// as text, and a megabyte for everything else.
func releaseBytes(m *models.Model, draws int) int64 {
	const (
		perNumber = 2*8 + 3*24 // bytes: two formats of float64, three of text
		perWeight = 8
		perState  = 8 * 24 // eight arrays of text
	)
	points := report.PointScalars(m)
	return 1<<20 + perWeight*int64(points) + perState*int64(m.P) + perNumber*int64(draws)*int64(m.Constrained-points+m.Quantity+3)
}
