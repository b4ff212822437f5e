package privacy

import (
	"encoding/json"
	"fmt"
	"time"

	"d3p/internal/privacy/event"
)

// Ledger is the list of releases from one data set, as data for an accountant.
// Checkpoints contain it, so that resuming cannot reset the budget. All of it is public.
type Ledger struct {
	Relation event.Relation `json:"relation"`
	Entries  []Entry        `json:"entries"`
	// NotPrivate is the reason why the run can have no claim; empty if the claim holds.
	NotPrivate string `json:"not_private,omitempty"`
}

// Entry is one mechanism.
type Entry struct {
	Time       time.Time   // of its start
	Purpose    string      // "fit", ...
	Event      event.Event // of the steps done
	Steps      int         // done
	Authorised int         // steps certified before the first one
	// Failed is the number of last steps in which the engine failed: they are charged, and
	// released nothing.
	Failed int
}

// Event is the composition of all entries.
func (l Ledger) Event() event.Event {
	if len(l.Entries) == 1 {
		return l.Entries[0].Event
	}
	c := event.Composed{Events: make([]event.Event, len(l.Entries))}
	for i, e := range l.Entries {
		c.Events[i] = e.Event
	}
	return c
}

// clone returns a copy that shares no entries.
func (l Ledger) clone() Ledger {
	l.Entries = append([]Entry(nil), l.Entries...)
	return l
}

// entryJSON is Entry with the event as dp_accounting writes it.
type entryJSON struct {
	Time       time.Time       `json:"time"`
	Purpose    string          `json:"purpose"`
	Steps      int             `json:"steps"`
	Authorised int             `json:"authorised_steps"`
	Failed     int             `json:"failed_steps,omitempty"`
	Event      json.RawMessage `json:"event"`
}

// MarshalJSON writes the event as a dp_accounting named tuple.
func (e Entry) MarshalJSON() ([]byte, error) {
	ev, err := event.MarshalDpEvent(e.Event)
	if err != nil {
		return nil, fmt.Errorf("ledger entry %s: %w", e.Purpose, err)
	}
	return json.Marshal(entryJSON{Time: e.Time, Purpose: e.Purpose, Steps: e.Steps, Authorised: e.Authorised, Failed: e.Failed, Event: ev})
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var j entryJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	ev, err := event.UnmarshalDpEvent(j.Event)
	if err != nil {
		return fmt.Errorf("ledger entry %s: %w", j.Purpose, err)
	}
	*e = Entry{Time: j.Time, Purpose: j.Purpose, Event: ev, Steps: j.Steps, Authorised: j.Authorised, Failed: j.Failed}
	return nil
}
