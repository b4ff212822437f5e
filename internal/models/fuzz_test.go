package models_test

import (
	"os"
	"path/filepath"
	"testing"

	"d3p/internal/models"
)

// FuzzRead checks that no model file makes the compiler panic, and that its
// mistakes have places.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/errors/*.yaml", "../../configs/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := models.Read("m.yaml", src, nil)
		if err != nil && err.Error() == "" {
			t.Fatal("an error without a message")
		}
	})
}
