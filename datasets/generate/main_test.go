package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreFresh(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("datasets/%s differs from what the generator writes; run make datasets", name)
		}
	}
}

// The cohort must keep the properties that the tutorial states: every level occurs, values
// are missing where declared, and the outcome is neither rare nor common.
func TestCohortShape(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(cohortCSV(cohortTruth, 4000))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]map[string]int, len(rows[0]))
	for j := range counts {
		counts[j] = map[string]int{}
	}
	for _, row := range rows[1:] {
		for j, cell := range row {
			counts[j][cell]++
		}
	}
	want := map[string]int{"sex": 2, "smoker": 4, "emergency": 2, "hospital": 12, "died30": 2}
	for j, name := range rows[0] {
		if n, ok := want[name]; ok && len(counts[j]) != n {
			t.Errorf("%s has %d values, want %d", name, len(counts[j]), n)
		}
	}
	if missing := counts[1][""]; missing < 150 || missing > 250 {
		t.Errorf("%d missing bmi, want about 200", missing)
	}
	if died := counts[7]["1"]; died < 800 || died > 1400 {
		t.Errorf("%d of 4000 died, want about a quarter", died)
	}
}

// Every digit is on some images and can be told from the others: no two digits
// drawn in turn have the same pixels, and every image has ink and paper.
func TestDigits(t *testing.T) {
	images, labels := digits(20)
	images, labels = images[16:], labels[8:]
	const size = digitSide * digitSide
	if len(images) != 20*size || len(labels) != 20 {
		t.Fatalf("%d bytes of images, %d labels", len(images), len(labels))
	}
	for i := range labels {
		image := images[i*size : (i+1)*size]
		ink := 0
		for _, v := range image {
			ink += int(v)
		}
		if share := float64(ink) / 255 / size; share < 0.02 || share > 0.3 {
			t.Errorf("image %d: %.3f of it is ink", i, share)
		}
		if int(labels[i]) != i%10 {
			t.Errorf("image %d is labelled %d", i, labels[i])
		}
	}
}

// The head of an npy file is aligned as numpy.lib.format asks.
func TestScenes(t *testing.T) {
	file := scenes(2)
	end := bytes.IndexByte(file, '\n') + 1
	if end%64 != 0 || len(file)-end != 2*3*sceneSide*sceneSide {
		t.Errorf("the head has %d bytes, the data %d", end, len(file)-end)
	}
}
