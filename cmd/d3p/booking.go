package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"d3p/internal/fit"
	"d3p/internal/ledger"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
)

// booking is a run's place in the ledger of its data set. Without a path there
// is no ledger, and nothing is booked.
type booking struct {
	path string
	run  ledger.Run
}

// reserve sets budget aside for a planned fit before any record is read.
func (b booking) reserve(entity string, plan *fit.Plan) error {
	if b.path == "" {
		return nil
	}
	_, err := ledger.Update(b.path, func(book *ledger.Book) error {
		if err := sameClaim(book, entity, plan.Adjacency); err != nil {
			return err
		}
		return book.Reserve(b.run, plan.MechanismEvent(plan.NoiseMultiplier), time.Now())
	})
	return b.failed(err)
}

// settle books what the run has released so far, and gives back the rest.
func (b booking) settle(spent privacy.Ledger) error {
	if b.path == "" {
		return nil
	}
	var ev event.Event
	if len(spent.Entries) > 0 {
		ev = spent.Event()
	}
	_, err := ledger.Update(b.path, func(book *ledger.Book) error { return book.Settle(b.run, ev, time.Now()) })
	return b.failed(err)
}

// goesOn refuses to go on with a copy of a run of which more was spent than the
// copy knows: the ledger would be charged once for what two releases show.
func (b booking) goesOn(folder runFolder, checkpoint *fit.Checkpoint) error {
	if b.path == "" {
		return nil
	}
	book, err := ledger.Read(b.path)
	if err != nil {
		return b.failed(err)
	}
	accounts, err := book.Accounts("")
	if err != nil {
		return b.failed(err)
	}
	at := slices.IndexFunc(accounts, func(a ledger.Account) bool { return a.ID == b.run.ID && a.State == ledger.Spent })
	if at < 0 {
		return nil
	}
	held, err := heldBy(checkpoint)
	if err != nil {
		return err
	}
	var noted privacy.Ledger // of the last end of the run
	if err := folder.read(ledgerFile, &noted); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failWith(statusUsage, err)
	}
	if same(held.Event(), accounts[at].Event) || same(noted.Event(), accounts[at].Event) {
		return nil
	}
	return usagef("%s: %s has other steps of this run than the folder: the run went on in a copy (resume that one)", folder.path, b.path)
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
	if errors.As(err, &over) {
		return failWith(statusBudget, fmt.Errorf("--ledger: %s: %w; nothing was read (d3p ledger show lists the runs)", b.path, err))
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
