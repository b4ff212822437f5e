package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/ledger"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
)

// booking is a run's place in the ledger of its data set. Without a path there
// is no ledger, and nothing is booked.
type booking struct {
	path  string
	run   ledger.Run
	known []string // attempts of the run that its folder knows
}

// reserve sets budget aside for a planned fit before any record is read.
func (b booking) reserve(entity string, plan *plan.Plan) error {
	if b.path == "" {
		return nil
	}
	_, err := ledger.Update(b.path, func(book *ledger.Book) error {
		if err := sameClaim(book, entity, plan.Neighbours); err != nil {
			return err
		}
		return b.reserveIn(book, plan)
	})
	return b.failed(err)
}

// reserveIn is reserve in a book that is open. Of several copies of a run's folder
// the first takes the run over: what the others would release are other numbers.
func (b booking) reserveIn(book *ledger.Book, plan *plan.Plan) error {
	if err := book.Holds(b.run.ID, b.known); err != nil {
		return err
	}
	return book.Reserve(b.run, plan.MechanismEvent(plan.NoiseMultiplier), time.Now())
}

// settle books what the run is about to release or has spent so far, and gives back
// the rest. It fails when another copy of the folder has taken the run over.
func (b booking) settle(spent privacy.Ledger) error {
	if b.path == "" {
		return nil
	}
	var ev event.Event
	if len(spent.Entries) > 0 {
		ev = spent.Event()
	}
	_, err := ledger.Update(b.path, func(book *ledger.Book) error {
		if err := book.Holds(b.run.ID, []string{b.run.Attempt}); err != nil {
			return err
		}
		return book.Settle(b.run, ev, time.Now())
	})
	return b.failed(err)
}

// heldBy is the ledger of what a run had spent at its checkpoint.
func heldBy(checkpoint *fit.Checkpoint) (spent privacy.Ledger, err error) {
	if err := json.Unmarshal(checkpoint.Ledger, &spent); err != nil {
		return spent, failWith(statusUsage, fmt.Errorf("the checkpoint's ledger is not readable: %w", err))
	}
	return spent, nil
}

// same compares two events by what they say.
func same(a, b event.Event) bool {
	x, errX := event.MarshalDpEvent(a)
	y, errY := event.MarshalDpEvent(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// booked is what a report says of the ledger; nil when there is none.
func (b booking) booked(entity string, rel event.Relation) (*report.Booked, error) {
	if b.path == "" {
		return nil, nil
	}
	book, err := ledger.Read(b.path)
	if err != nil {
		return nil, b.failed(err)
	}
	if err := sameClaim(book, entity, rel); err != nil {
		return nil, b.failed(err)
	}
	others, err := book.Accounts(b.run.ID)
	if err != nil {
		return nil, b.failed(err)
	}
	head, err := book.Head()
	return &report.Booked{
		LedgerID: book.ID, Dataset: book.Dataset, Chain: head, Limit: report.Target{Epsilon: book.Limit.Epsilon, Delta: book.Limit.Delta},
		Runs: len(others), Event: ledger.Compose(others, nil),
	}, err
}

// failed adds the flag, and the exit status, to an error.
func (b booking) failed(err error) error {
	if err == nil {
		return nil
	}
	var over *privacy.BudgetError
	switch {
	case errors.As(err, &over):
		return failWith(statusBudget, fmt.Errorf("--ledger: %s: %w; nothing was read (d3p ledger show %s says how much one more fit may have)", b.path, err, b.path))
	case errors.Is(err, ledger.ErrElsewhere):
		return failWith(statusUsage, fmt.Errorf("--ledger: %s: %w", b.path, err))
	}
	return failWith(statusUsage, fmt.Errorf("--ledger: %w", err))
}

// sameClaim refuses to add up what is said of different things.
func sameClaim(book *ledger.Book, entity string, rel event.Relation) error {
	if book.Entity != entity || book.Relation != rel {
		return fmt.Errorf("the ledger of %s protects one %s under %s neighbours, the run one %s under %s: they do not add up",
			book.Dataset, book.Entity, report.RelationWords(book.Relation), entity, report.RelationWords(rel))
	}
	return nil
}
