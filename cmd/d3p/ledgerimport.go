package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"d3p/internal/ledger"
	"d3p/internal/privacy/event"
)

func newLedgerImport(a *app) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "import FILE EVENT --name NAME",
		Short: "Book what another tool released",
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
				return usagef("--name: missing; the ledger shows the release under it")
			}
			ev, err := readEvent(args[1])
			if err != nil {
				return err
			}
			if _, err := ledger.Update(args[0], func(book *ledger.Book) error { return importEvent(book, name, ev) }); err != nil {
				return failWith(statusUsage, err)
			}
			return a.showLedger(args[0])
		},
	}
	c.Flags().StringVar(&name, "name", "", "`NAME` of the release in the ledger")
	return c
}

// importEvent books an event as spent under a name that the book does not have
// yet: under a known one it would replace what stands there.
func importEvent(book *ledger.Book, name string, ev event.Event) error {
	for _, e := range book.Entries {
		if e.ID == name {
			return fmt.Errorf("--name: the ledger has a run %s already; name another", name)
		}
	}
	if _, err := book.Epsilon(ev); err != nil {
		return err
	}
	return book.Settle(ledger.Run{ID: name}, ev, time.Now())
}
