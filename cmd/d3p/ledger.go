package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/accounting"
	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/ledger"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/status"
	"d3p/internal/verify"
)

func newLedger(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Keep one budget over all runs on a data set",
		Long: `A ledger is a file of the custodian of a data set. It lists what every run on the
data released, and a limit for all runs together. d3p fit --ledger FILE reserves the
price of the fit before it reads a record. It is refused (status 5) if all runs
together would exceed the limit. At the end the ledger books what the fit spent. A
killed fit keeps its reservation until you resume or settle it.

All runs of a ledger together satisfy the guarantee that d3p ledger show prints, on
two conditions: the ledger holds every release from the records, and nobody decided
on a run by looking at earlier results. Nothing in a ledger depends on a record.`,
		Example: "  d3p ledger init cohort.ledger --dataset cohort --entity patient --epsilon 3 --delta 1e-6\n  d3p fit --ledger cohort.ledger --epsilon 1 cohort.csv\n  d3p ledger show cohort.ledger",
		Args:    func(_ *cobra.Command, args []string) error { return noSuchLedgerCommand(args) },
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerInit(a), newLedgerShow(a), newLedgerAdd(a), newLedgerImport(a), newLedgerSettle(a))
	return c
}

func noSuchLedgerCommand(args []string) error {
	if len(args) > 0 {
		return status.Usagef("unknown command ledger %s; one of init, show, add, import, settle", args[0])
	}
	return nil
}

func newLedgerInit(a *app) *cobra.Command {
	var dataset, entity, relation string
	var limit privacy.Budget
	c := &cobra.Command{
		Use:     "init FILE",
		Short:   "Make an empty ledger",
		Example: "  d3p ledger init cohort.ledger --dataset cohort --entity patient --epsilon 3 --delta 1e-6",
		Args:    exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.Read(c); err != nil {
				return err
			}
			switch {
			case limit.Epsilon == 0:
				return status.Usagef("--epsilon: missing: the limit of all runs together, as in --epsilon 3")
			case dataset == "" || entity == "":
				return status.Usagef("--dataset and --entity: name the data set and its protected unit")
			}
			if err := ledger.Create(args[0], ledger.New(dataset, entity, event.Relation(relation), limit)); err != nil {
				return status.With(status.Usage, err)
			}
			return a.showLedger(args[0])
		},
	}
	c.Flags().StringVar(&dataset, "dataset", "", "`NAME` of the data set, as reports will call it")
	c.Flags().StringVar(&entity, "entity", "", "word for one protected `UNIT`, as in the model files: patient")
	c.Flags().Float64Var(&limit.Epsilon, "epsilon", 0, "limit of all runs together")
	c.Flags().Float64Var(&limit.Delta, "delta", 1e-6, "delta of the limit")
	c.Flags().StringVar(&relation, "neighbours", string(event.AddRemove), "which data sets are neighbours: "+strings.Join(event.RelationNames(), ", "))
	flags.CompleteWords(c, "neighbours", event.RelationNames())
	return c
}

func newLedgerShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show FILE",
		Short:   "Print the runs of a ledger and their price together",
		Example: "  d3p ledger show cohort.ledger\n  d3p ledger show cohort.ledger --json",
		Args:    exactly("FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.showLedger(args[0]) },
	}
}

func newLedgerAdd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "add FILE RUN...",
		Short: "Book finished runs that did not use the ledger",
		Long: `Add verifies each release, and the run's own ledger if it exists, and books the
price. A release counts even if it exceeds the limit.`,
		Example: "  d3p ledger add cohort.ledger d3p-run-cohort-1 d3p-run-cohort-2",
		Args:    atLeast(2, "a ledger and a run"),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := ledger.Update(args[0], func(book *ledger.Ledger) error {
				for _, run := range args[1:] {
					if err := bookRun(c.Context(), book, run); err != nil {
						return fmt.Errorf("%s: %w", run, err)
					}
				}
				return nil
			})
			if err != nil {
				return status.With(status.Usage, err)
			}
			return a.showLedger(args[0])
		},
	}
}

// bookRun books a finished run.
func bookRun(ctx context.Context, book *ledger.Ledger, folder string) error {
	files, checks, err := verify.Release(ctx, folder)
	if err != nil {
		return status.With(status.Usage, err)
	}
	if files != nil {
		defer files.Close()
	}
	for _, c := range checks {
		if !c.OK {
			return status.With(status.Data, fmt.Errorf("%s: %s", c.Name, c.Detail))
		}
	}
	p, ev, err := accounting.ReadClaim(files)
	if err != nil {
		return status.With(status.Usage, err)
	}
	if p.Guarantee == nil {
		return status.With(status.Data, errors.New("there is no claim: the run is "+settings.NotPrivate))
	}
	if c, there := accounting.CheckLedger(folder, ev, p); there && !c.OK {
		return status.With(status.Data, fmt.Errorf("%s: %s", c.Name, c.Detail))
	}
	if err := run.SameClaim(book, p.Unit.Entity, event.Relation(p.Neighbours.Relation)); err != nil {
		return err
	}
	created, err := time.Parse(time.RFC3339, p.CreatedAt)
	if err != nil {
		return status.With(status.Data, err)
	}
	if err := notBooked(book, p.ReportID); err != nil {
		return err
	}
	return book.Add(ledger.Run{ID: p.ReportID, Folder: nameOf(folder)}, ev, created)
}

// notBooked refuses a run that is in the book already: two resumed copies of a stopped fit
// would be two releases under one id.
func notBooked(book *ledger.Ledger, id string) error {
	switch booked, err := book.Has(id, ledger.Spent); {
	case err != nil:
		return err
	case booked:
		return fmt.Errorf("the ledger has this run already (if this is another copy of a stopped fit, which continued without the ledger, charge it, too: d3p ledger import FILE release/dp_event.json --name NAME)")
	}
	return nil
}

// nameOf is the name of a run's folder, given that folder or its release/.
func nameOf(run string) string {
	absolute, err := filepath.Abs(run)
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSuffix(absolute, string(filepath.Separator)+"release"))
}

// shownLedger is the JSON form of a ledger: its runs, and their price at the delta of the
// limit.
type shownLedger struct {
	ledger.Header
	Runs    []shownRun `json:"runs"`
	Epsilon float64    `json:"epsilon"` // of all runs together
	Left    float64    `json:"left"`
	Next    float64    `json:"next"` // the largest epsilon of one more run with full batches
	Head    string     `json:"entries_hash_chain"`
}

type shownRun struct {
	ledger.Run
	Time    time.Time `json:"time"`
	State   string    `json:"state"`
	Epsilon float64   `json:"epsilon"` // of this run alone
}

func (a *app) showLedger(path string) error {
	book, err := ledger.Read(path)
	if err != nil {
		return status.With(status.Usage, err)
	}
	accounts, err := book.Accounts("")
	if err != nil {
		return status.With(status.Usage, err)
	}
	shown := shownLedger{Header: book.Header, Runs: []shownRun{}}
	for _, run := range accounts {
		epsilon, err := book.Epsilon(run.Event)
		if err != nil {
			return err
		}
		shown.Runs = append(shown.Runs, shownRun{run.Run, run.Time, run.State, epsilon})
	}
	if shown.Epsilon, err = book.Epsilon(ledger.Compose(accounts, nil)); err != nil {
		return err
	}
	shown.Left = book.Limit.Epsilon - shown.Epsilon
	if shown.Next, err = book.Next(); err != nil {
		return err
	}
	if shown.Head, err = book.Head(); err != nil {
		return status.With(status.Usage, err)
	}
	return a.result(shown, func(w io.Writer) { printLedger(w, filepath.Base(path), shown) })
}

func printLedger(w io.Writer, name string, l shownLedger) {
	fmt.Fprintf(w, "%s: %s, one %s, %s neighbours, all epsilons at delta %g\n\n", name, l.Dataset, l.Entity, report.RelationWords(l.Relation), l.Limit.Delta)
	t := terminal.Columns{W: w, Right: []int{4}}
	t.Line(terminal.Cells{"run", "folder", "from", "state", "epsilon alone"})
	for _, run := range l.Runs {
		t.Line(terminal.Cells{run.ID, run.Folder, run.Time.Format("2006-01-02 15:04"), run.State, terminal.AtMost(run.Epsilon)})
	}
	t.Print()
	fmt.Fprintf(w, "\nall together: epsilon at most %s of %g; left: %s\n", terminal.AtMost(l.Epsilon), l.Limit.Epsilon, terminal.AtLeast(l.Left))
	if l.Next > max(l.Left, 0) && len(l.Runs) > 0 {
		fmt.Fprintf(w, "one more fit with full batches at delta %g may have epsilon %.3g (several cost less than their sum)\n", l.Limit.Delta, math.Floor(1000*l.Next)/1000)
	}
	if slices.ContainsFunc(l.Runs, func(r shownRun) bool { return r.State == ledger.Reserved }) {
		fmt.Fprintln(w, "a reserved run counts whole until it ends; of one that was killed: d3p resume RUN, or d3p ledger settle LEDGER RUN")
	}
	if l.Left < 0 {
		fmt.Fprintln(w, "the limit is exceeded: no run is let in any more")
	}
}

func newLedgerImport(a *app) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "import FILE EVENT --name NAME",
		Short: "Book the release of another tool",
		Long: `Import books a release that another tool made from the same records, such as a
published count or table. EVENT is a JSON file with its mechanism in the form of
dp_accounting, as d3p account --event reads it. If only epsilon and delta are known:
{"module_name": "dp_accounting.dp_event", "class_name": "EpsilonDeltaDpEvent",
"epsilon": 0.5, "delta": 0}.

The custodian must make sure that the event is about one unit of the ledger, under
its neighbouring relation. A release counts even if it exceeds the limit.`,
		Example: "  d3p ledger import cohort.ledger census.json --name census-2025",
		Args:    exactly("FILE", "EVENT"),
		RunE: func(_ *cobra.Command, args []string) error {
			if name == "" {
				return status.Usagef("--name: missing; the ledger shows the release under it")
			}
			ev, err := accounting.ReadEvent(args[1])
			if err != nil {
				return err
			}
			if _, err := ledger.Update(args[0], func(book *ledger.Ledger) error { return importEvent(book, name, ev) }); err != nil {
				return status.With(status.Usage, err)
			}
			return a.showLedger(args[0])
		},
	}
	c.Flags().StringVar(&name, "name", "", "`NAME` of the release in the ledger")
	return c
}

// importEvent books an event as spent under a new name. Under a known name it would replace
// that entry.
func importEvent(book *ledger.Ledger, name string, ev event.Event) error {
	for _, e := range book.Entries {
		if e.ID == name {
			return fmt.Errorf("--name: the ledger has a run %s already; name another", name)
		}
	}
	return book.Add(ledger.Run{ID: name}, ev, time.Now())
}

func newLedgerSettle(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "settle FILE RUN...",
		Short: "Give back the reservations of killed fits",
		Long: `Settle books what a killed fit spent, and gives the rest of its reservation back. It
needs the folder of the run. The steps up to the last checkpoint stay charged. Nobody
saw the numbers of later steps, because they ended with the process. A fit that still
runs, or whose folder is missing, keeps its reservation.

d3p resume can still continue from the checkpoint: it reserves the rest again.`,
		Example: "  d3p ledger settle cohort.ledger d3p-run-cohort-3",
		Args:    atLeast(2, "a ledger and a run"),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, folder := range args[1:] {
				if err := run.Settle(args[0], folder); err != nil {
					return err
				}
			}
			return a.showLedger(args[0])
		},
	}
}
