package report

import (
	"encoding/json"
	"errors"
	"fmt"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Budget is the ledger's account of all runs on the data set. Its epsilons are at the
// delta of the limit; they are of compositions, so they do not add up.
type Budget struct {
	LedgerID string `json:"ledger_id"`
	Dataset  string `json:"dataset_id"`
	Limit    Target `json:"limit"` // of all runs together
	// Before are all other runs in the ledger, those reserved but not finished
	// among them.
	Before  Others  `json:"before"`
	ThisRun float64 `json:"this_run"`
	After   float64 `json:"after"` // this run and the others
	Left    float64 `json:"left"`  // limit less After; negative when it is exceeded
	// Chain is the hash of the ledger's last entry when the run was booked. A ledger with
	// removed entries lacks it.
	Chain string `json:"entries_hash_chain"`
}

// Others are the other runs of a ledger.
type Others struct {
	Runs    int             `json:"runs"`
	Epsilon float64         `json:"epsilon"`
	Event   json.RawMessage `json:"event"` // their releases together, in dp_accounting's form; null: none
}

// Booked is a run's part about its ledger.
type Booked struct {
	LedgerID, Dataset, Chain string
	Limit                    Target
	Runs                     int         // others
	Event                    event.Event // their releases together; nil: none
}

// Budget prices a run together with the others of its ledger.
func (b *Booked) Budget(this event.Event, rel event.Relation) (*Budget, error) {
	out := &Budget{LedgerID: b.LedgerID, Dataset: b.Dataset, Limit: b.Limit, Chain: b.Chain, Before: Others{Runs: b.Runs}}
	events := []event.Event{this}
	if b.Event != nil {
		raw, err := event.MarshalDpEvent(b.Event)
		if err != nil {
			return nil, err
		}
		out.Before.Event = raw
		events = append(events, b.Event)
	}
	epsilon := func(ev event.Event) (float64, error) {
		answer, err := accountant.Epsilon(ev, rel, b.Limit.Delta)
		if none := new(accountant.InfeasibleError); errors.As(err, &none) {
			err = fmt.Errorf("--ledger: the run has a delta of its own that reaches delta %g of the ledger (--delta %[1]g or less)", b.Limit.Delta)
		}
		return answer.Upper, err
	}
	var err error
	if out.ThisRun, err = epsilon(this); err != nil {
		return nil, err
	}
	out.After = out.ThisRun
	if b.Event != nil {
		if out.Before.Epsilon, err = epsilon(b.Event); err != nil {
			return nil, err
		}
		if out.After, err = epsilon(event.Composed{Events: events}); err != nil {
			return nil, err
		}
	}
	out.Left = out.Limit.Epsilon - out.After
	return out, nil
}

// Again prices the block from its own event and the run's: nil for none.
func (b *Budget) Again(this event.Event, rel event.Relation) (*Budget, error) {
	if b == nil {
		return nil, nil
	}
	booked := Booked{b.LedgerID, b.Dataset, b.Chain, b.Limit, b.Before.Runs, nil}
	if len(b.Before.Event) > 0 && string(b.Before.Event) != "null" {
		ev, err := event.UnmarshalDpEvent(b.Before.Event)
		if err != nil {
			return nil, err
		}
		booked.Event = ev
	}
	return booked.Budget(this, rel)
}
