package noise

import (
	"fmt"
	"strings"
	"testing"
)

func TestSystemRootsDiffer(t *testing.T) {
	a, err := System()
	if err != nil {
		t.Fatal(err)
	}
	b, err := System()
	if err != nil {
		t.Fatal(err)
	}
	if *a.key == *b.key || *a.key == [32]byte{} {
		t.Error("two system roots have the same key")
	}
	if a.Insecure() || !Insecure(1).Insecure() || Public(1).Insecure() {
		t.Error("Insecure() does not tell the roots apart")
	}
}

func TestSeedsAndLabelsGiveDifferentKeys(t *testing.T) {
	if *Insecure(1).key == *Insecure(2).key || *Insecure(1).key == *Public(1).key {
		t.Error("different seeds or kinds share a key")
	}
	if first, second := Insecure(1), Insecure(1); *first.key != *second.key {
		t.Error("one seed gives two keys")
	}
}

func TestPublicRootServesOnlyPublicPurposes(t *testing.T) {
	for i := range purposes {
		p := Purpose(i)
		func() {
			defer func() {
				if refused := recover() != nil; refused != p.Private() {
					t.Errorf("%v: refused = %v, private = %v", p, refused, p.Private())
				}
			}()
			Public(1).Stream(p)
		}()
	}
}

func TestRootDoesNotPrintItsKey(t *testing.T) {
	r := Insecure(1)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, r); !strings.HasSuffix(got, "noise.Root(secret)") {
			t.Errorf("%s prints %q", verb, got)
		}
		if got := fmt.Sprintf(verb, struct{ R Root }{r}); !strings.Contains(got, "noise.Root(secret)") {
			t.Errorf("%s inside a struct prints %q", verb, got)
		}
	}
}
