package published

import "testing"

// The values after 20 epochs are those of table 2 of the paper, and there is no third program.
func TestBoundsAreThoseOfThePaper(t *testing.T) {
	for images, want := range map[string]float64{"mnist": 174.06, "fashion-mnist": 304.74, "cifar-10": 2123.05} {
		s, err := Bounds(images, Python, true)
		if err != nil {
			t.Fatal(err)
		}
		if last := s.Points[len(s.Points)-1]; last.X != 20 || last.Mean != want || last.SE <= 0 {
			t.Errorf("%s: %+v, want %g after 20 epochs", images, last, want)
		}
	}
	if _, err := Bounds("mnist", "NumPyro", true); err == nil {
		t.Error("a program that is not in the logs has values")
	}
	if s, err := StepTimes(false); err != nil || len(s.Points) != 6 {
		t.Errorf("%d batch sizes, %v", len(s.Points), err)
	}
}

// The best clip norm has 75.4 % at the least noise, and less at more.
func TestAccuraciesFallWithTheNoise(t *testing.T) {
	s, err := Accuracies()
	if err != nil || len(s.Points) != 5 {
		t.Fatalf("%+v, %v", s, err)
	}
	if last := s.Points[4]; last.X != 0.2285 || last.Mean != 0.75431 {
		t.Errorf("at the least noise %+v", last)
	}
	for i := range 4 {
		if s.Points[i].X >= s.Points[i+1].X || s.Points[i].Mean > s.Points[i+1].Mean {
			t.Errorf("%+v before %+v", s.Points[i], s.Points[i+1])
		}
	}
}
