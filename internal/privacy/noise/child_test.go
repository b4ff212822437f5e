package noise

import "testing"

func TestChild(t *testing.T) {
	root := Insecure(7)
	first := map[uint64]string{}
	for _, r := range []struct {
		name string
		root Root
	}{{"the root", root}, {"child 0", root.Child(0)}, {"child 1", root.Child(1)}, {"child 0 of child 0", root.Child(0).Child(0)}} {
		x := r.root.Stream(GradientNoise).Uint64()
		if other, seen := first[x]; seen {
			t.Errorf("%s starts like %s", r.name, other)
		}
		first[x] = r.name
		if !r.root.Insecure() {
			t.Errorf("%s is not marked insecure", r.name)
		}
	}
	if root.Child(3).Stream(Sampling).Uint64() != Insecure(7).Child(3).Stream(Sampling).Uint64() {
		t.Error("a child of the same root differs")
	}
}
