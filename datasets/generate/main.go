// Command generate writes the data sets of this folder, always the same bytes.
//
//	go run ./datasets/generate
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	for name, content := range files() {
		if err := os.WriteFile(filepath.Join("datasets", name), content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}

// files returns the content of every generated file by name.
func files() map[string][]byte {
	images, labels := digits(digitCount)
	return map[string][]byte{
		"cohort.csv":               cohortCSV(cohortTruth, 4000),
		"cohort-truth.json":        cohortTruth.json(),
		"digits-images-idx3-ubyte": images,
		"digits-labels-idx1-ubyte": labels,
		"scenes.npy":               scenes(sceneCount),
		"reviews.csv":              reviews(reviewCount),
		"names.csv":                names(nameCount),
		"../configs/words.txt":     vocabulary(),
	}
}
