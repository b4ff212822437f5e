package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// run is the event of a fit: T steps of a full batch.
func run(sigma float64, steps int64) event.Event {
	return event.SelfComposed{Of: event.Gaussian{NoiseMultiplier: sigma}, Count: steps}
}

func limited(epsilon float64) *Ledger {
	return New("cohort", "patient", event.AddRemove, privacy.Budget{Epsilon: epsilon, Delta: 1e-6})
}

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// The price of several runs is the accountant's price of all their steps as one
// mechanism: Gaussians of the same run length compose to one of smaller noise.
func TestRunsCompose(t *testing.T) {
	b := limited(3)
	for _, name := range []string{"a", "b"} {
		if err := b.Reserve(Run{ID: name}, run(100, 200), now); err != nil {
			t.Fatal(err)
		}
		if err := b.Settle(Run{ID: name}, run(100, 200), now); err != nil {
			t.Fatal(err)
		}
	}
	accounts, err := b.Accounts("")
	if err != nil || len(accounts) != 2 || accounts[0].State != Spent {
		t.Fatalf("accounts %+v, %v", accounts, err)
	}
	got, err := b.Epsilon(Compose(accounts, nil))
	if err != nil {
		t.Fatal(err)
	}
	want, err := accountant.Epsilon(run(100, 400), event.AddRemove, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if got < want.Lower || got > want.Upper*1.0001 {
		t.Errorf("two runs cost %g, their steps together %g to %g", got, want.Lower, want.Upper)
	}
}

// A reservation beyond the limit is refused and changes nothing. A run that stops early
// gives the rest back, a run without steps everything.
func TestLimit(t *testing.T) {
	b := limited(1)
	whole := run(150, 1000) // epsilon 0.92 at 1e-6
	if err := b.Reserve(Run{ID: "a"}, whole, now); err != nil {
		t.Fatal(err)
	}
	var over *privacy.BudgetError
	if err := b.Reserve(Run{ID: "b"}, whole, now); !errors.As(err, &over) || over.Needs <= 1 || over.Before <= 0.8 || over.Before >= 1 {
		t.Fatalf("a second run of the same price: %v", err)
	}
	if len(b.Entries) != 1 {
		t.Fatalf("the refused run is in the ledger: %+v", b.Entries)
	}
	if err := b.Reserve(Run{ID: "a"}, whole, now); err != nil || len(b.Entries) != 1 {
		t.Errorf("reserving the same again: %v, %d entries", err, len(b.Entries))
	}
	if err := b.Settle(Run{ID: "a"}, run(150, 10), now); err != nil {
		t.Fatal(err)
	}
	if err := b.Reserve(Run{ID: "b"}, run(150, 900), now); err != nil {
		t.Errorf("the budget that a did not spend is not given back: %v", err)
	}
	if err := b.Settle(Run{ID: "b"}, nil, now); err != nil {
		t.Fatal(err)
	}
	if accounts, err := b.Accounts(""); err != nil || len(accounts) != 1 {
		t.Errorf("a run that released nothing counts: %+v, %v", accounts, err)
	}
	if err := b.Settle(Run{ID: "c"}, whole, now); err != nil {
		t.Errorf("what has been released must be booked, limit or not: %v", err)
	}
}

// Releases whose own deltas reach that of the limit have no epsilon. They are not booked: the ledger could then neither let
// another run in nor show what it has.
func TestDeltasReachTheLimit(t *testing.T) {
	b := limited(2)
	part := event.EpsilonDelta{Epsilon: 0.1, Delta: 6e-7}
	if err := b.Add(Run{ID: "a"}, part, now); err != nil {
		t.Fatal(err)
	}
	var reached *DeltaError
	for name, err := range map[string]error{
		"more than it":   b.Add(Run{ID: "b"}, event.EpsilonDelta{Delta: 2e-5}, now),
		"together":       b.Add(Run{ID: "b"}, part, now),
		"of a new fit":   b.Reserve(Run{ID: "b"}, part, now),
		"of the limit's": b.Add(Run{ID: "b"}, event.EpsilonDelta{Delta: 1e-6}, now),
	} {
		if !errors.As(err, &reached) || len(b.Entries) != 1 {
			t.Errorf("%s: %v, %d entries", name, err, len(b.Entries))
		}
	}
	if err := b.Add(Run{ID: "b"}, event.EpsilonDelta{Delta: 2e-5}, now); !strings.Contains(err.Error(), "--delta 0.0001)") {
		t.Errorf("the advice is not of a delta that has an epsilon: %v", err)
	}
	if err := b.Add(Run{ID: "c"}, run(10, 100), now); err != nil {
		t.Errorf("a release beyond the limit's epsilon: %v", err)
	}
	if _, err := b.Next(); err != nil {
		t.Error(err)
	}
}

// A ledger is read back as it was; any altered character of it, and any entry left
// out but the last, is found.
func TestAlteredBooksAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	if err := Create(path, limited(2)); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, limited(9)); err == nil {
		t.Error("a ledger was overwritten")
	}
	none := filepath.Join(t.TempDir(), "none")
	if _, err := Update(none, func(*Ledger) error { return nil }); err == nil || !strings.Contains(err.Error(), "no ledger") {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(none + ".lock"); err == nil {
		t.Error("a lock was left where there is no ledger")
	}
	private(t, path)
	b, err := Update(path, func(b *Ledger) error {
		return errors.Join(b.Reserve(Run{ID: "a"}, run(100, 10), now), b.Settle(Run{ID: "a", Folder: "out"}, run(100, 9), now), b.Reserve(Run{ID: "b"}, run(100, 10), now))
	})
	if err != nil {
		t.Fatal(err)
	}
	private(t, path)
	again, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Reserve(Run{ID: "b"}, run(100, 10), now); err != nil || len(again.Entries) != 3 {
		t.Errorf("reserving the same again after reading: %v, %d entries", err, len(again.Entries))
	}
	if x, _ := b.Head(); x == "" || len(again.Entries) != 3 {
		t.Errorf("read back %d entries, want 3", len(again.Entries))
	} else if y, _ := again.Head(); x != y {
		t.Errorf("head %s read back as %s", x, y)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for old, altered := range map[string]string{
		`"epsilon": 2,`: `"epsilon": 2, "Epsilon": 3,`, `"delta": `: `"delta": 0.5, "delta": `,
		`"epsilon": 2`: `"epsilon": 3`, `"count": 9`: `"count": 1`, `"state": "spent"`: `"state": "spend"`,
		`"schema_version": 1`: `"schema_version": 2`, `"entries"`: `"comment": "", "entries"`,
		`"noise_multiplier": 100`: `"noise_multiplier": 1000`, `"entity": "patient"`: `"entity": "visit"`, `"folder": "out"`: `"folder": "in"`,
	} {
		changed := strings.Replace(string(text), old, altered, 1)
		if changed == string(text) {
			t.Fatalf("the ledger does not hold %s:\n%s", old, text)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil {
			t.Errorf("%s for %s was not found", altered, old)
		}
	}
	b.Entries = b.Entries[1:]
	if err := b.Check(); err == nil {
		t.Error("a missing first entry was not found")
	}
}

// A ledger contains every head that it had, and not the head of a removed entry.
func TestContains(t *testing.T) {
	b := limited(2)
	var heads []string
	for i := range 4 {
		if i > 0 {
			if err := b.Settle(Run{ID: string(rune('a' + i))}, run(100, 1), now); err != nil {
				t.Fatal(err)
			}
		}
		head, err := b.Head()
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, head)
		for _, h := range heads {
			if there, err := b.Contains(h); !there || err != nil {
				t.Errorf("after %d entries a head is missing (%v)", i, err)
			}
		}
	}
	b.Entries = b.Entries[:2]
	for i, h := range heads {
		if there, err := b.Contains(h); there != (i < 3) || err != nil {
			t.Errorf("head %d in a ledger of two entries: %v, %v", i, there, err)
		}
	}
}

// private fails unless path is its owner's alone.
func private(t *testing.T, path string) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: mode %v, want 0600 (%v)", filepath.Base(path), info.Mode().Perm(), err)
	}
}

// A ledger of another version, and one of an unknown relation, is not read even
// while it has no entries that would betray a change.
func TestBooksOfAnotherKind(t *testing.T) {
	for word, change := range map[string]func(*Ledger){
		"schema_version 2": func(b *Ledger) { b.SchemaVersion = 2 },
		"cousins":          func(b *Ledger) { b.Relation = "cousins" },
	} {
		b := limited(2)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		if change(b); b.Check() == nil || !strings.Contains(b.Check().Error(), word) {
			t.Errorf("%s: %v", word, b.Check())
		}
	}
	if one, other := limited(2), limited(2); one.ID == other.ID {
		t.Error("two ledgers have one id")
	}
}

// Programs that reserve at the same time never lose an entry of each other.
func TestUpdatesAreSerial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	if err := Create(path, limited(2)); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, name := range strings.Split("a b c d e f g h", " ") {
		all.Go(func() {
			if _, err := Update(path, func(b *Ledger) error { return b.Settle(Run{ID: name}, run(100, 1), now) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if b, err := Read(path); err != nil || len(b.Entries) != 8 {
		t.Errorf("%d entries, %v, want 8", len(b.Entries), err)
	}
}

// Where the lock's file is removed, another program may have written the ledger: its entry is not lost.
func TestRemovedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.json")
	if err := Create(path, limited(2)); err != nil {
		t.Fatal(err)
	}
	settle := func(name string) func(*Ledger) error {
		return func(b *Ledger) error { return b.Settle(Run{ID: name}, run(100, 1), now) }
	}
	_, err := Update(path, func(b *Ledger) error {
		if err := os.Remove(path + ".lock"); err != nil {
			return err
		}
		if _, err := Update(path, settle("other")); err != nil {
			return err
		}
		return settle("own")(b)
	})
	if err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("the ledger is written: %v", err)
	}
	b, err := Read(path)
	if there, other := b.Has("other", Spent); err != nil || other != nil || !there {
		t.Errorf("the other program's entry is gone (%v, %v)", err, other)
	}
	if _, err := Update(path, settle("own")); err != nil {
		t.Error(err)
	}
}

// A ledger under two names is one ledger.
func TestLinkedLedger(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "cohort.ledger"), filepath.Join(dir, "link.ledger")
	if err := Create(path, limited(2)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("cohort.ledger", link); err != nil {
		t.Skip(err)
	}
	for i, name := range []string{link, path} {
		if _, err := Update(name, func(b *Ledger) error { return b.Settle(Run{ID: name}, run(100, 1), now) }); err != nil {
			t.Fatal(err)
		}
		for _, read := range []string{link, path} {
			if b, err := Read(read); err != nil || len(b.Entries) != i+1 {
				t.Errorf("after %d updates %s has %d entries (%v)", i+1, filepath.Base(read), len(b.Entries), err)
			}
		}
	}
}

// One copy of a run's folder continues: the last one that resumed it.
func TestCopiesOfARun(t *testing.T) {
	b := limited(3)
	if err := b.Holds("a", []string{"1"}, false); err != nil {
		t.Errorf("a new run: %v", err)
	}
	if err := b.Holds("a", []string{"1"}, true); !errors.Is(err, ErrForgotten) {
		t.Errorf("a run that the ledger booked, and has no entry of: %v", err)
	}
	for _, attempt := range []string{"1", "2"} {
		if err := b.Reserve(Run{ID: "a", Attempt: attempt}, run(100, 20), now); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Reserve(Run{ID: "b", Attempt: "9"}, run(100, 20), now); err != nil {
		t.Fatal(err)
	}
	if accounts, err := b.Accounts("b"); err != nil || len(b.Entries) != 3 || accounts[0].Attempt != "2" {
		t.Errorf("the second attempt is not in the ledger: %+v, %v", accounts, err)
	}
	for _, c := range []struct {
		known []string
		holds bool
	}{{[]string{"1", "2"}, true}, {[]string{"2"}, true}, {[]string{"1"}, false}, {[]string{"1", "3"}, false}, {nil, false}} {
		if err := b.Holds("a", c.known, true); (err == nil) != c.holds {
			t.Errorf("a copy with the attempts %v: %v", c.known, err)
		}
	}
}

// Update refuses a ledger with a second name that is no symbolic link: the other name
// would keep the old ledger, with its own limit.
func TestHardLinkedLedger(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "cohort.ledger"), filepath.Join(dir, "other.ledger")
	if err := Create(path, limited(2)); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, other); err != nil {
		t.Skip(err)
	}
	spend := func(b *Ledger) error { return b.Settle(Run{ID: "a"}, run(100, 1), now) }
	for _, name := range []string{path, other} {
		if _, err := Update(name, spend); err == nil || !strings.Contains(err.Error(), "has 2 names") {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if _, err := Update(path, spend); err != nil {
		t.Error(err)
	}
}

// Update refuses a ledger that others may change or replace, or whose lock is planted.
func TestLedgerIsOnesOwn(t *testing.T) {
	for name, spoil := range map[string]func(dir, path string) error{
		"":               func(_, _ string) error { return nil },
		"open ledger":    func(_, path string) error { return os.Chmod(path, 0o666) },
		"foreign ledger": func(_, path string) error { return os.Chown(path, 1234, 1234) },
		"open folder":    func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"linked lock": func(dir, path string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "target"), []byte("untouched"), 0o666), os.Symlink("target", path+".lock"))
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "cohort.ledger")
		if err := Create(path, limited(2)); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir, path); err != nil {
			t.Logf("%s is not tried: %v", name, err)
			continue
		}
		if _, err := Update(path, func(b *Ledger) error { return b.Settle(Run{ID: "a"}, run(100, 1), now) }); (err == nil) != (name == "") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}
