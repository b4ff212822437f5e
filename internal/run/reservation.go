package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"d3p/internal/fit"
	"d3p/internal/ledger"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/status"
)

// reservation is a run's place in the ledger of its data set. Without a path there is no
// ledger, and it does nothing.
type reservation struct {
	path  string
	run   ledger.Run
	known []string // attempts of the run in its folder
}

// reserve reserves budget before any record is read: ev for each of the runs at places, all
// in one ledger, or for none. Of several copies of a run's folder the first takes over the
// run, because the others would release other numbers.
func (r Run) reserve(ev event.Event, places ...reservation) error {
	first := places[0]
	if first.path == "" {
		return nil
	}
	_, err := ledger.Update(first.path, func(book *ledger.Ledger) error {
		if err := SameClaim(book, r.Model.Spec.Data.Unit.Entity.V, r.Plan.Neighbours); err != nil {
			return err
		}
		for _, place := range places {
			if err := book.Holds(place.run.ID, place.known, r.checkpoint != nil); err != nil {
				return err
			}
			if err := book.Reserve(place.run, ev, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	return first.failed(err)
}

// settle books the events that the run releases, or has spent so far, and gives back the
// rest. It fails if another copy of the folder has taken the run over.
func (r reservation) settle(spent privacy.Ledger) error {
	return r.settleFor(spent, []string{r.run.Attempt})
}

// settleFor is settle for a run whose last entry may belong to one of several attempts.
func (r reservation) settleFor(spent privacy.Ledger, attempts []string) error {
	if r.path == "" {
		return nil
	}
	var ev event.Event
	if len(spent.Entries) > 0 {
		ev = spent.Event()
	}
	_, err := ledger.Update(r.path, func(book *ledger.Ledger) error {
		if err := book.Holds(r.run.ID, attempts, true); err != nil {
			return err
		}
		return book.Settle(r.run, ev, time.Now())
	})
	return r.failed(err)
}

// spentAt is the ledger of a run at its checkpoint; empty without one.
func spentAt(checkpoint *fit.Checkpoint) (spent privacy.Ledger, err error) {
	if checkpoint == nil {
		return spent, nil
	}
	if err := json.Unmarshal(checkpoint.Ledger, &spent); err != nil {
		return spent, status.With(status.Usage, fmt.Errorf("the checkpoint's ledger is not readable: %w", err))
	}
	return spent, nil
}

// Booked is a report's part about the ledger at path, without the run of an id; nil if
// path is "".
func Booked(path, id, entity string, rel event.Relation) (*report.Booked, error) {
	if path == "" {
		return nil, nil
	}
	r := reservation{path: path}
	book, err := ledger.Read(r.path)
	if err != nil {
		return nil, r.failed(err)
	}
	if err := SameClaim(book, entity, rel); err != nil {
		return nil, r.failed(err)
	}
	others, err := book.Accounts(id)
	if err != nil {
		return nil, r.failed(err)
	}
	head, err := book.Head()
	return &report.Booked{
		LedgerID: book.ID, Dataset: book.Dataset, Chain: head, Limit: report.Target{Epsilon: book.Limit.Epsilon, Delta: book.Limit.Delta},
		Runs: len(others), Event: ledger.Compose(others, nil),
	}, err
}

// failed adds the flag and the kind to an error.
func (r reservation) failed(err error) error {
	if err == nil {
		return nil
	}
	var over *privacy.BudgetError
	var delta *ledger.DeltaError
	switch {
	case errors.As(err, &delta):
		return status.With(status.Usage, fmt.Errorf("--ledger: %s: nothing was read: the run has a delta of its own that reaches delta %g of the ledger (--delta %[2]g or less)", r.path, delta.Limit.Delta))
	case errors.As(err, &over):
		return status.With(status.Budget, fmt.Errorf("--ledger: %s: nothing was read: %w", r.path, err))
	case errors.Is(err, ledger.ErrElsewhere), errors.Is(err, ledger.ErrForgotten):
		return status.With(status.Usage, fmt.Errorf("--ledger: %s: %w", r.path, err))
	}
	return status.With(status.Usage, fmt.Errorf("--ledger: %w", err))
}

// SameClaim refuses to compose claims about different relations or units.
func SameClaim(book *ledger.Ledger, entity string, rel event.Relation) error {
	if book.Entity != entity || book.Relation != rel {
		return fmt.Errorf("the ledger of %s protects one %s under %s neighbours, the run one %s under %s: they do not add up",
			book.Dataset, book.Entity, report.RelationWords(book.Relation), entity, report.RelationWords(rel))
	}
	return nil
}
