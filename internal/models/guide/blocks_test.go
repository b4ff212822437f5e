package guide

import "testing"

// Products of families pass the checks of the families, whatever the order of
// their coordinates.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []Block
		noise  int
	}{
		{"low_rank", []Block{{"mean_field", []int{2}}}, 6},
		{"full_rank", []Block{{"full_rank", []int{3, 0}}}, 4},
		{"mean_field", []Block{{"low_rank", []int{1, 3}}, {"full_rank", []int{2}}}, 6},
		{"mean_field", []Block{{"full_rank", []int{3, 1, 0, 2}}}, 4},
	} {
		g, err := New(c.name, 4, Options{Rank: 2, Blocks: c.blocks})
		if err != nil {
			t.Fatal(err)
		}
		if g.Latent() != 4 || g.Noise() != c.noise {
			t.Fatalf("latent %d, noise %d, want %d", g.Latent(), g.Noise(), c.noise)
		}
		lambda := testLambda(g)
		covariance := covarianceOf(g, lambda)
		checkMarginals(t, g, lambda, covariance)
		checkPullback(t, g, lambda)
		checkLanding(t, g, lambda)
		checkInit(t, g)
		checkAllocations(t, g, lambda)
		// Members of a block are independent of everything outside it.
		for _, b := range c.blocks {
			inside := map[int]bool{}
			for _, i := range b.At {
				inside[i] = true
			}
			for i := range 4 {
				for j := range 4 {
					if inside[i] != inside[j] && covariance[i][j] != 0 {
						t.Errorf("%s: covariance %v of %d and %d", c.name, covariance[i][j], i, j)
					}
				}
			}
		}
	}
}

func TestBlocksRefuse(t *testing.T) {
	for _, blocks := range [][]Block{
		{{"mean_field", []int{0, 0}}}, {{"mean_field", []int{1}}, {"full_rank", []int{1}}}, {{"mean_field", []int{4}}}, {{"nothing", []int{1}}},
	} {
		if _, err := New("full_rank", 4, Options{Blocks: blocks}); err == nil {
			t.Errorf("no error for %v", blocks)
		}
	}
}
