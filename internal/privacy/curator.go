// Package privacy decides what may leave a data set, and its price.
//
// A Curator owns the records, the budget and the secret random numbers. Every number that
// depends on a record leaves through a Session, which adds the noise that was certified
// before its first step; the ledger has every release. No method returns another number of
// the records: not N, not a loss, not a count of bad rows. docs/privacy.md has the numbered
// claims.
//
// Letters: N records, P scalars in θ, T steps, C clip norm in L2, z noise of a sum in units
// of C.
package privacy

import (
	"errors"
	"fmt"
	"os"
	"time"

	"d3p/internal/atomicfile"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// CuratorConfig has the records of a curator and their guarantee.
type CuratorConfig struct {
	// Table has the records of sessions; the first curator reads it. It may come later, by
	// Encode.
	Table *Table
	// Columns have the records of counts and moments; nil: none.
	Columns  *Columns
	Engine   Engine
	Root     noise.Root // of all secret randomness
	Budget   Budget
	Relation event.Relation
	// Spent is the event of earlier runs' releases from the same data.
	Spent Ledger
	// Ranks hold parts of the records; nil: this process has all.
	Ranks Ranks
	// Private is the folder that receives datacheck.json, mode 0600: the effects of the
	// declared rules on the records. It is not protected and must not be published. nil:
	// none.
	Private *os.Root
	// Now is the clock of the ledger; nil is time.Now.
	Now func() time.Time
}

// DataCheckName is the private file about the effects of the rules.
const DataCheckName = "datacheck.json"

// Curator holds the records of one data set. It is not safe for concurrent use.
type Curator struct {
	columns     *Columns
	columnsRead bool
	table       *Table
	private     *os.Root
	rows        *Rows // of the table
	engine      Engine
	root        noise.Root
	budget      Budget
	relation    event.Relation
	ledger      Ledger
	ranks       Ranks
	now         func() time.Time
	session     *Session // the open one
	sessions    int      // begun so far
}

// NewCurator takes a table, and reads it if it is the first to. Errors are about the file
// and the declarations only, never about the content of a record.
func NewCurator(cfg CuratorConfig) (*Curator, error) {
	if !(cfg.Budget.Epsilon > 0) || !(cfg.Budget.Delta > 0 && cfg.Budget.Delta < 1) {
		return nil, fmt.Errorf("privacy: budget epsilon %g, delta %g: want epsilon > 0 and 0 < delta < 1", cfg.Budget.Epsilon, cfg.Budget.Delta)
	}
	if _, err := event.ParseRelation(string(cfg.Relation)); err != nil {
		return nil, err
	}
	if r := cfg.Spent.Relation; r != "" && r != cfg.Relation {
		return nil, fmt.Errorf("privacy: the ledger of earlier runs is under %s, this run under %s: costs under different relations cannot be added", r, cfg.Relation)
	}
	c := &Curator{
		columns: cfg.Columns, private: cfg.Private, engine: cfg.Engine, root: cfg.Root,
		budget: cfg.Budget, relation: cfg.Relation,
		ledger: cfg.Spent.clone(), ranks: cfg.Ranks, now: cfg.Now,
	}
	if c.now == nil {
		c.now = time.Now
	}
	c.ledger.Relation = cfg.Relation
	if cfg.Root.Insecure() {
		c.ledger.NotPrivate = "the noise comes from a known seed (--insecure-noise-seed) and can be subtracted"
	}
	if cfg.Table == nil {
		return c, nil
	}
	if err := c.Encode(cfg.Table); err != nil {
		return nil, err
	}
	return c, nil
}

// keep writes the data check to the private folder, unless an error of reading left nothing to count.
func (c *Curator) keep(check *DataCheck, err error) error {
	if c.private == nil || err != nil {
		return err
	}
	return atomicfile.WriteIn(c.private, DataCheckName, 0o600, check.Write)
}

// Encode gives a table to a curator without one, and reads it. The curator frees its
// columns.
func (c *Curator) Encode(t *Table) error {
	if c.table != nil {
		return errors.New("privacy: the curator has a table")
	}
	rows, check, err := t.read()
	if err = c.keep(&check, err); err != nil {
		return err
	}
	c.table, c.rows, c.columns = t, rows, nil
	return nil
}

// Columns replaces the columns of a curator without a table by the same records in another
// encoding.
func (c *Curator) Columns(columns *Columns) { c.columns, c.columnsRead = columns, false }

// Format prints a fixed text for every verb: no log may show a record.
func (c *Curator) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Curator(secret)") }

// Ledger returns the event of all releases so far, of earlier runs and an open session,
// too.
func (c *Curator) Ledger() Ledger {
	l := c.ledger.clone()
	if s := c.session; s != nil {
		l.Entries[s.entry].Steps, l.Entries[s.entry].Failed = s.done, s.lost
		l.Entries[s.entry].Event = s.event()
	}
	return l
}

// Begin certifies, before anything is released, that m fits into the rest of the budget,
// and starts it. Over budget it returns *BudgetError and spends nothing.
func (c *Curator) Begin(m Mechanism) (*Session, error) {
	if err := m.check(c.relation); err != nil {
		return nil, err
	}
	answer, err := c.budget.certify(c.ledger, m.Event(m.Steps), c.relation)
	if err != nil {
		return nil, err
	}
	return c.start(m, c.ledger, 0, answer.Upper)
}

// Resume continues a session after `done` steps, which an earlier run released: the last
// entry of CuratorConfig.Spent. Steps in which the engine failed are taken again. It
// certifies the whole of m again, not only the remaining steps. The root must be fresh or
// the earlier run's; step numbers continue, so no noise is used for two releases.
func (c *Curator) Resume(m Mechanism, done int) (*Session, error) {
	if err := m.check(c.relation); err != nil {
		return nil, err
	}
	last := len(c.ledger.Entries) - 1
	if last < 0 || c.sessions > 0 {
		return nil, errors.New("privacy: there is no session to resume")
	}
	if e := c.ledger.Entries[last]; e.Steps-e.Failed != done || e.Authorised != m.Steps || !event.Equal(e.Event, m.Event(e.Steps)) {
		return nil, fmt.Errorf("privacy: the last ledger entry has %d of %d steps of another mechanism than the one to resume (begin a new session instead)", e.Steps, e.Authorised)
	}
	before := c.ledger.clone()
	before.Entries = before.Entries[:last]
	answer, err := c.budget.certify(before, m.Event(m.Steps), c.relation)
	if err != nil {
		return nil, err
	}
	kept := c.ledger
	c.ledger = before
	s, err := c.start(m, before, done, answer.Upper)
	if err != nil {
		c.ledger = kept // the spending of the earlier run stays
	}
	return s, err
}

// notPrivate is the reason why a baseline has no claim.
const notPrivate = "the fit has no noise and no clipping (fit-nonprivate)"

// BeginNonPrivate starts a session without noise or clipping, for baselines. It marks the
// ledger permanently: this run can have no claim.
func (c *Curator) BeginNonPrivate(m Mechanism) (*Session, error) {
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	if m.Clip.Kind != Unclipped || m.GradientNoise != 0 || m.CountNoise != 0 {
		return nil, errors.New("privacy: a session that is not private has no clipping and no noise")
	}
	c.ledger.NotPrivate = notPrivate
	return c.start(m, c.ledger, 0, 0)
}
