package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/status"
	"d3p/internal/ledger"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/verify"
)

// accountedRun is the JSON result of account RUN.
type accountedRun struct {
	Run            string         `json:"run"`
	ClaimedEpsilon float64        `json:"claimed_epsilon"`
	ClaimedDelta   float64        `json:"claimed_delta"`
	Holds          bool           `json:"holds"`
	WhatIf         bool           `json:"what_if"` // the numbers are for another sampler or relation than the run's
	Checks         []verify.Check `json:"checks"`
	accounted
}

// accountRun checks a finished run against its own ledger and prints what it costs.
func (a *app) accountRun(c *cobra.Command, run string, m *mechanismFlags, o *accountOptions) error {
	if err := refuse(c, "a RUN brings its own", append([]string{"event", "epsilon", "delta"}, describing...)); err != nil {
		return err
	}
	files, checks, err := verify.Release(c.Context(), run)
	if err != nil {
		return status.With(status.Usage, err)
	}
	if files == nil {
		return status.With(status.Data, fmt.Errorf("%s: %s: %s", run, checks[0].Name, checks[0].Detail))
	}
	defer files.Close()
	p, ev, err := readClaim(files)
	if err != nil {
		return status.With(status.Data, err)
	}
	if p.Guarantee == nil {
		return status.With(status.Data, fmt.Errorf("%s: there is no claim: the run is %s", run, report.NotPrivate))
	}
	rel, err := event.ParseRelation(p.Neighbours.Relation)
	if err != nil {
		return status.With(status.Data, fmt.Errorf("%s: privacy.json: %w", run, err))
	}
	r := accountedRun{Run: run, ClaimedEpsilon: p.Guarantee.Epsilon, ClaimedDelta: p.Guarantee.Delta, Checks: checks}
	if check, ok := checkLedger(run, ev, p); ok {
		r.Checks = append(r.Checks, check)
	}
	if o.ledger != "" {
		check, err := checkBook(o.ledger, ev, p)
		if err != nil {
			return status.With(status.Usage, fmt.Errorf("--ledger: %w", err))
		}
		r.Checks = append(r.Checks, check)
	}
	s := p.Mechanism.Sampler
	own := mechanismFlags{
		sampling: s.Scheme, relation: string(rel), rate: s.Rate, noise: p.Mechanism.NoiseMultiplier,
		steps: int64(p.Mechanism.Iterations), records: p.Neighbours.NPublic, delta: p.Guarantee.Delta,
		before: p.Mechanism.Purchase.Events(),
	}
	if ev, rel, err = own.whatIf(c, m, o, ev, rel); err != nil {
		return err
	}
	r.WhatIf = o.whatIf && (own.sampling != s.Scheme || string(rel) != p.Neighbours.Relation)
	r.Sampling, r.SamplingRate, r.NoiseMultiplier, r.Steps = own.sampling, own.rate, own.noise, own.steps
	if err := r.answer(ev, rel, own.delta); err != nil {
		return err
	}
	r.Warnings = own.warnings(own.noise, r.EpsilonUpper, own.delta)
	if err := r.addGroup(ev, rel, o.group); err != nil {
		return err
	}
	if err := r.addRisk(ev, rel, o); err != nil {
		return err
	}
	failed := 0
	for _, check := range r.Checks {
		if !check.OK {
			failed++
		}
	}
	r.Holds = failed == 0
	err = a.result(r, func(w io.Writer) { r.print(w) })
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d checks failed", failed, len(r.Checks)))
	}
	return status.With(status.Data, err)
}

// whatIf changes the run to the sampler and relation of the flags, which it
// refuses unless --what-if: a run is accounted as what really ran.
func (own *mechanismFlags) whatIf(c *cobra.Command, m *mechanismFlags, o *accountOptions, ev event.Event, rel event.Relation) (event.Event, event.Relation, error) {
	asked, err := event.ParseRelation(m.relation)
	if err != nil {
		return nil, "", status.Usagef("--neighbours: %v", err)
	}
	otherRelation := c.Flags().Changed("neighbours") && asked != rel
	otherSampling := c.Flags().Changed("sampling") && m.sampling != own.sampling
	switch {
	case !otherRelation && !otherSampling:
		return ev, rel, nil
	case !o.whatIf:
		return nil, "", status.With(status.Budget, fmt.Errorf("the run sampled by %s under %s neighbours; accounting it as anything else would be a false claim (--what-if shows the number all the same)", own.sampling, rel))
	}
	if otherRelation {
		rel = asked
	}
	if otherSampling {
		own.sampling = m.sampling
		if own.sampling == "full" {
			own.rate = 1
		}
		ev = own.event(own.noise, own.steps)
		if len(own.before) > 0 {
			ev = event.Composed{Events: append(slices.Clone(own.before), ev)}
		}
	}
	own.relation = string(rel)
	if _, err := own.check(); err != nil {
		return nil, "", err
	}
	return ev, rel, nil
}

// readClaim reads privacy.json and dp_event.json of a release.
func readClaim(files *release.Folder) (p *report.Privacy, ev event.Event, err error) {
	if p, err = report.ReadPrivacy(files); err != nil || p.Guarantee == nil {
		return p, nil, err
	}
	ev, err = report.ReadEvent(files)
	return p, ev, err
}

// checkLedger compares the run's own ledger, where the caller has it, with the
// event that was released. ok is false when there is only a release.
func checkLedger(folder string, ev event.Event, p *report.Privacy) (check verify.Check, ok bool) {
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
	bought := len(p.Mechanism.Purchase.Events()) // one entry each, of one step
	steps, authorised := -bought, -bought
	for _, e := range own.Entries {
		steps, authorised = steps+e.Steps, authorised+e.Authorised
	}
	planned := p.Mechanism.Iterations
	if early := p.Mechanism.Planned; early != nil {
		planned = early.Iterations
	}
	check.OK = same(own.Event(), ev) && string(own.Relation) == p.Neighbours.Relation && own.NotPrivate == "" &&
		steps == p.Mechanism.Iterations && authorised == planned // a release is of a fit that is finished
	if !check.OK {
		check.Detail = run.LedgerName + " says something else than dp_event.json"
	}
	return check, true
}

// same compares two events by what they say.
func same(a, b event.Event) bool {
	x, errX := event.MarshalDpEvent(a)
	y, errY := event.MarshalDpEvent(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// checkBook asks whether the ledger of the data set, at path, has the run as it was
// released, and all that its report has seen there.
func checkBook(path string, ev event.Event, p *report.Privacy) (verify.Check, error) {
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
		check.Detail = "is another one than the report names"
	case !seen:
		check.Detail = "lacks entries that it had when the run was released"
	case at < 0:
		check.Detail = "does not have the run (d3p ledger add books it)"
	case accounts[at].State != ledger.Spent || !same(accounts[at].Event, ev):
		check.Detail = "has another price of the run than dp_event.json"
	default:
		check.OK, check.Detail = true, "has the run, and all that was there when it was released"
	}
	return check, nil
}

// print writes the checks and the account as text.
func (r *accountedRun) print(w io.Writer) {
	failed := 0
	for _, c := range r.Checks {
		if !c.OK {
			failed++
			fmt.Fprintf(w, "FAIL  %s: %s\n", c.Name, c.Detail)
		}
	}
	fmt.Fprintf(w, "%d of %d checks hold\n", len(r.Checks)-failed, len(r.Checks))
	fmt.Fprintf(w, "claimed: epsilon = %v at delta = %v\n", r.ClaimedEpsilon, r.ClaimedDelta)
	if r.WhatIf {
		fmt.Fprintln(w, "WHAT IF, not what ran:")
	}
	r.accounted.print(w)
}
