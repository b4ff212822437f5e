// Package ledger keeps the ledger of one data set: the events that every run released or may
// still release, and the budget of all runs together. A ledger holds only events and names,
// and nothing that depends on a record.
package ledger

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/spell"
)

// Ledger is the ledger of one data set. Entries are only added. Each has the hash of the
// entry before it, so a changed or missing entry shows.
type Ledger struct {
	Header
	Entries []Entry `json:"entries"`
}

// Header is the subject and the limit of a ledger. It never changes.
type Header struct {
	SchemaVersion int            `json:"schema_version"`
	ID            string         `json:"ledger_id"`
	Dataset       string         `json:"dataset"` // the custodian's name of the data set
	Entity        string         `json:"entity"`  // of the privacy unit
	Relation      event.Relation `json:"relation"`
	Limit         privacy.Budget `json:"limit"` // of all runs together
}

// schemaVersion is the version of the ledgers that this program writes and reads.
const schemaVersion = 1

// The values of Entry.State.
const (
	Reserved = "reserved" // the run may release this; it counts as released
	Spent    = "spent"    // the run has released this, and releases no more
)

// Run identifies the run of an entry.
type Run struct {
	ID     string `json:"run"`
	Folder string `json:"folder,omitempty"` // name of the run's folder, for the reader
	// Attempt is the start or resumption that made the entry. It distinguishes copies of
	// one folder. Empty for releases that no fit made.
	Attempt string `json:"attempt,omitempty"`
}

// Entry is one line of a ledger. Only the last entry of a run counts.
type Entry struct {
	Run
	Time     time.Time       `json:"time"`
	State    string          `json:"state"`
	Event    json.RawMessage `json:"event"`    // as dp_accounting writes it; null: no release
	Previous string          `json:"previous"` // hash of the entry before it, or of the header
}

// New returns an empty ledger with a new id.
func New(dataset, entity string, rel event.Relation, limit privacy.Budget) *Ledger {
	var id [8]byte
	rand.Read(id[:]) // cannot fail: crypto/rand would abort the program
	return &Ledger{Header: Header{schemaVersion, hex.EncodeToString(id[:]), dataset, entity, rel, limit}, Entries: []Entry{}}
}

// Check refuses a ledger of another version, with an event that the accountant refuses, or
// with an entry that does not follow from the one before it.
func (b *Ledger) Check() error {
	if b.SchemaVersion != schemaVersion {
		return fmt.Errorf("schema_version %d of the ledger, want %d (use the d3p that wrote it)", b.SchemaVersion, schemaVersion)
	}
	if _, err := event.ParseRelation(string(b.Relation)); err != nil {
		return err
	}
	previous, err := digest(b.Header)
	if err != nil {
		return err
	}
	for i, e := range b.Entries {
		if e.Previous != previous {
			return fmt.Errorf("entry %d does not follow the one before it: the ledger was altered (restore a copy)", i+1)
		}
		if _, err := e.event(); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		if previous, err = digest(e); err != nil {
			return err
		}
	}
	return nil
}

// Head is the hash of the last entry, which covers all earlier ones. A ledger without entries has the hash of its header.
func (b *Ledger) Head() (string, error) {
	if n := len(b.Entries); n > 0 {
		return digest(b.Entries[n-1])
	}
	return digest(b.Header)
}

// Contains reports whether hash is or was a head of the ledger. A ledger with removed entries
// lacks their heads.
func (b *Ledger) Contains(hash string) (bool, error) {
	for _, e := range b.Entries {
		if e.Previous == hash {
			return true, nil
		}
	}
	head, err := b.Head()
	return head == hash, err
}

// digest is the SHA-256 of v as compact JSON.
func digest(v any) (string, error) {
	raw, err := json.Marshal(v)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// event is the event of an entry; nil if it has none.
func (e Entry) event() (event.Event, error) {
	if len(e.Event) == 0 || string(e.Event) == "null" {
		return nil, nil
	}
	return event.UnmarshalDpEvent(e.Event)
}

// Account is the present state of one run.
type Account struct {
	Run
	Time  time.Time // of the run's first entry
	State string
	Event event.Event
}

// Accounts are the runs that released or may release something, in the order of their first
// entries, but not the run with the id except.
func (b *Ledger) Accounts(except string) ([]Account, error) {
	var list []Account
	at := map[string]int{}
	for _, e := range b.Entries {
		ev, err := e.event()
		if err != nil {
			return nil, err
		}
		i, known := at[e.ID]
		if !known {
			i = len(list)
			at[e.ID] = i
			list = append(list, Account{Run: e.Run, Time: e.Time})
		}
		list[i].State, list[i].Event, list[i].Attempt = e.State, ev, e.Attempt
	}
	kept := list[:0]
	for _, a := range list {
		if a.ID != except && a.Event != nil {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// Has reports whether a run is among the accounts, in the given state.
func (b *Ledger) Has(id, state string) (bool, error) {
	accounts, err := b.Accounts("")
	return slices.ContainsFunc(accounts, func(a Account) bool { return a.ID == id && a.State == state }), err
}

// ErrElsewhere means that the run continued in a copy of its folder. The ledger has the price
// of one copy, and another would release other numbers.
var ErrElsewhere = errors.New("the run went on in another copy of its folder (resume that one)")

// ErrForgotten means that the ledger has no entry of a run that it booked, so it lacks entries of
// other runs, too.
var ErrForgotten = errors.New("it has no entry of this run, which it booked: it is another ledger, or an earlier copy (put the last one back)")

// Holds returns ErrElsewhere if the last entry of the run belongs to none of the given attempts.
// Only the copy with the last attempt may continue. Without an entry, it returns ErrForgotten if
// the run was booked before.
func (b *Ledger) Holds(id string, attempts []string, booked bool) error {
	for i := len(b.Entries) - 1; i >= 0; i-- {
		if e := b.Entries[i]; e.ID == id {
			if slices.Contains(attempts, e.Attempt) {
				return nil
			}
			return ErrElsewhere
		}
	}
	if booked {
		return ErrForgotten
	}
	return nil
}

// Compose is the event of all accounts and, unless it is nil, ev together; nil for no
// release.
func Compose(accounts []Account, ev event.Event) event.Event {
	var list []event.Event
	for _, a := range accounts {
		list = append(list, a.Event)
	}
	if ev != nil {
		list = append(list, ev)
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return event.Composed{Events: list}
}

// Epsilon is the certified upper epsilon of ev at the delta of the limit; 0 for no event. It is a
// *DeltaError if a larger delta has one.
func (b *Ledger) Epsilon(ev event.Event) (float64, error) {
	if ev == nil {
		return 0, nil
	}
	answer, err := accountant.Epsilon(ev, b.Relation, b.Limit.Delta)
	var none *accountant.InfeasibleError
	if !errors.As(err, &none) {
		return answer.Upper, err
	}
	for exponent := math.Floor(math.Log10(b.Limit.Delta)) + 1; exponent < 0; exponent++ {
		delta := math.Pow(10, exponent)
		if _, none := accountant.Epsilon(ev, b.Relation, delta); none == nil {
			return 0, &DeltaError{Header: b.Header, Delta: delta}
		}
	}
	return 0, err
}

// DeltaError means that releases have deltas of their own that reach that of the limit, so no
// epsilon holds for them there.
type DeltaError struct {
	Header
	Delta float64 // a power of ten at which one holds
}

func (e *DeltaError) Error() string {
	return fmt.Sprintf("no epsilon holds for all releases together at delta %g of the ledger: their own deltas reach it, so it promises nothing "+
		"(make another and book all releases there: d3p ledger init NEW.ledger --dataset %s --entity %s --neighbours %s --epsilon %g --delta %g)",
		e.Limit.Delta, spell.Word(e.Dataset), spell.Word(e.Entity), e.Relation, e.Limit.Epsilon, e.Delta)
}

// Reserve reserves budget for the releases of a run. If all runs together would exceed the
// limit, it changes nothing and returns a *privacy.BudgetError. A later reservation
// replaces an earlier one of the run.
func (b *Ledger) Reserve(run Run, ev event.Event, now time.Time) error {
	others, err := b.Accounts(run.ID)
	if err != nil {
		return err
	}
	needs, err := b.Epsilon(Compose(others, ev))
	if err != nil {
		return err
	}
	if !(needs <= b.Limit.Epsilon) {
		before, err := b.Epsilon(Compose(others, nil))
		return errors.Join(&privacy.BudgetError{Budget: b.Limit, Needs: needs, Before: before}, err)
	}
	return b.add(run, Reserved, ev, now)
}

// Settle books the releases of a run; nil if it released nothing. Releases count even
// beyond the limit.
func (b *Ledger) Settle(run Run, ev event.Event, now time.Time) error {
	return b.add(run, Spent, ev, now)
}

// Add books releases of a run that reserved nothing. They count even beyond the limit, unless
// they leave no epsilon at its delta: then Add changes nothing, and returns a *DeltaError.
func (b *Ledger) Add(run Run, ev event.Event, now time.Time) error {
	others, err := b.Accounts(run.ID)
	if err != nil {
		return err
	}
	if _, err := b.Epsilon(Compose(others, ev)); err != nil {
		return err
	}
	return b.Settle(run, ev, now)
}

// add adds an entry, unless the run's last entry is the same.
func (b *Ledger) add(run Run, state string, ev event.Event, now time.Time) error {
	raw := json.RawMessage("null")
	if ev != nil {
		text, err := event.MarshalDpEvent(ev)
		if err != nil {
			return err
		}
		var compact bytes.Buffer // in the form that digests are computed from
		if err := json.Compact(&compact, text); err != nil {
			return err
		}
		raw = compact.Bytes()
	}
	for i := len(b.Entries) - 1; i >= 0; i-- {
		if last := b.Entries[i]; last.ID == run.ID {
			if last.State == state && last.Attempt == run.Attempt && string(last.Event) == string(raw) {
				return nil
			}
			break
		}
	}
	previous, err := b.Head()
	if err != nil {
		return err
	}
	b.Entries = append(b.Entries, Entry{run, now.UTC().Truncate(time.Second), state, raw, previous})
	return nil
}
