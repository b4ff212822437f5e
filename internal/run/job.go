package run

import (
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"d3p/internal/ledger"
	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// Job is the content of private/run.json: all that d3p resume needs besides plan and
// state.
type Job struct {
	ID string `json:"id"`
	// Attempts are the start of the run and its resumptions, by their names in the
	// ledger.
	Attempts []string  `json:"attempts"`
	Folder   string    `json:"folder"` // its name, without the folder
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
	TablePlace      string `json:"table,omitempty"`     // path of the file; empty: auto
	Insecure        bool   `json:"insecure"`
	Device          string `json:"device,omitempty"`     // as requested; empty: auto
	MaxMemory       int    `json:"max_memory,omitempty"` // of the device, in MB; 0: nine tenths
	Engine          string `json:"engine,omitempty"`     // the engine that Open chose
	Processes       int    `json:"processes,omitempty"`  // that held parts of the records, if more than one
	Ledger          string `json:"ledger,omitempty"`     // absolute path of the data set's ledger
	Sign            string `json:"sign,omitempty"`       // absolute path of the key that signs the release
}

// reservation is the job's place in the ledger of the data set.
func (j Job) reservation() reservation {
	return reservation{j.Ledger, ledger.Run{ID: j.ID, Folder: j.Folder, Attempt: j.Attempts[len(j.Attempts)-1]}, j.Attempts}
}

// compile compiles the model in the form that the release has, with the bought numbers.
// Draws from the prior depend on the order of the model file, so the draws of a release
// must come from this form.
func (j Job) compile(bought data.Bought) (*models.Model, error) {
	s, errs := spec.ParseSettled("the model of the fit", []byte(j.Model), bought, func(name string) ([]byte, error) {
		src, ok := j.Public[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return src, nil
	})
	if err := errs.Err(); err != nil {
		return nil, status.With(status.Spec, err)
	}
	m, err := models.Compile(s)
	return m, status.With(status.Spec, err)
}

// nextAttempt is the job with a new attempt, for a resumption or settlement.
func (j Job) nextAttempt() Job {
	j.Attempts = append(slices.Clone(j.Attempts), NewID())
	return j
}

// replicate is the k-th of several jobs like j, from 0, with its own seed. Its report has
// the command that runs it alone.
func (j Job) replicate(k int, folder folder) Job {
	j.ID, j.Attempts, j.Folder, j.Seed = NewID(), []string{NewID()}, folder.name(), j.Seed+uint64(k)
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

// PackFrom is the size in bytes from which levels take a byte each. A smaller table is read
// from caches, and unpacking would cost more than it saves.
const PackFrom = 16 << 20

// Table is the job's table, not read yet. The root chooses among the rows of units
// that have too many.
func (j Job) Table(m *models.Model, root noise.Root) *privacy.Table {
	return privacy.NewTable(Run{Job: j}.tableConfig(m, root, nil))
}

// tableConfig describes the part of the job's table that this process reads. A table on
// disk is in scratch; nil: in memory.
func (r Run) tableConfig(m *models.Model, root noise.Root, scratch *os.Root) privacy.TableConfig {
	cfg := privacy.TableConfig{
		Data: r.Job.Data, Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: r.Job.TablePrecision(), Root: root,
	}
	if r.engine != nil {
		cfg.PackFrom = PackFrom
	}
	if r.Ranks.Several() {
		cfg.Rank, cfg.Of = r.Ranks.Job.Rank, r.Ranks.Job.Size
	}
	if scratch == nil {
		scratch = r.scratch
	}
	switch r.Job.TablePlace {
	case settings.TableMemory:
	case settings.TableDisk:
		cfg.Scratch = scratch
	default:
		if free := privacy.FreeMemory(); free > 0 {
			cfg.Scratch, cfg.InMemory = scratch, free/2
		}
	}
	return cfg
}

// TablePrecision is the precision of the encoded table.
func (j Job) TablePrecision() privacy.Precision {
	if j.Precision == "float64" {
		return privacy.Float64
	}
	return privacy.Float32
}

// columnsOf are the columns that a purchase counts, of this process's records as m encodes
// them, before they are read. They have room for the derived columns of a model in
// whitened coordinates.
func (r Run) columnsOf(m *models.Model, scratch *os.Root) *privacy.Columns {
	cfg := r.tableConfig(m, r.Root, scratch)
	cfg.Spare = m.RotatedSpare()
	return privacy.NewColumns(cfg)
}

// NewID is a random name, for a run or for an attempt at it.
func NewID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return hex.EncodeToString(b[:])
}
