package accounting

import (
	"errors"
	"io/fs"
	"slices"

	"d3p/internal/ledger"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/verify"
)

// ReadClaim reads privacy.json and dp_event.json of a release.
func ReadClaim(files *release.Folder) (p *report.Privacy, ev event.Event, err error) {
	if p, err = report.ReadPrivacy(files); err != nil || p.Guarantee == nil {
		return p, nil, err
	}
	ev, err = report.ReadEvent(files)
	return p, ev, err
}

// CheckLedger compares the run's own ledger, if the caller has it, with the released event.
// ok is false if there is only a release.
func CheckLedger(folder string, ev event.Event, p *report.Privacy) (check verify.Check, ok bool) {
	check = verify.Check{Name: "the ledger", Detail: "agrees with dp_event.json"}
	own, ok, err := run.ReadLedger(folder)
	switch {
	case !ok:
		return check, false
	case errors.Is(err, fs.ErrNotExist):
		check.Detail = run.LedgerName + " is missing"
		return check, true
	case err != nil:
		check.Detail = run.LedgerName + " is not readable"
		return check, true
	}
	done, planned, bought := p.Mechanism.Iterations, p.Mechanism.Iterations, len(p.Mechanism.Before())+len(p.Mechanism.After(event.Relation(p.Neighbours.Relation))) // each is one entry, of one step
	if early := p.Mechanism.Planned; early != nil {
		planned = early.Iterations
	}
	if p.Mechanism.Selection != nil { // one entry
		done, planned, bought = 1, 1, 0
	}
	steps, authorised := -bought, -bought
	for _, e := range own.Entries {
		steps, authorised = steps+e.Steps, authorised+e.Authorised
	}
	check.OK = event.Equal(own.Event(), ev) && string(own.Relation) == p.Neighbours.Relation && own.NotPrivate == "" &&
		steps == done && authorised == planned // a release has a finished fit
	if !check.OK {
		check.Detail = run.LedgerName + " differs from dp_event.json"
	}
	return check, true
}

// CheckLedgerFile checks that the ledger of the data set, at path, has the run as released, and
// every entry that its report names.
func CheckLedgerFile(path string, ev event.Event, p *report.Privacy) (verify.Check, error) {
	check := verify.Check{Name: "the ledger of the data set"}
	book, err := ledger.Read(path)
	if err != nil {
		return check, err
	}
	accounts, err := book.Accounts("")
	if err != nil {
		return check, err
	}
	at := slices.IndexFunc(accounts, func(a ledger.Account) bool { return a.ID == p.ReportID })
	seen := true
	if p.Budget != nil {
		if seen, err = book.Contains(p.Budget.Chain); err != nil {
			return check, err
		}
	}
	switch {
	case !seen && book.ID != p.Budget.LedgerID:
		check.Detail = "is not the ledger that the report names"
	case !seen:
		check.Detail = "lacks entries that it had when the run was released"
	case at < 0:
		check.Detail = "does not have the run (d3p ledger add books it)"
	case accounts[at].State != ledger.Spent || !event.Equal(accounts[at].Event, ev):
		check.Detail = "has another price of the run than dp_event.json"
	default:
		check.OK, check.Detail = true, "has the run, and every entry that the report names"
	}
	return check, nil
}
