package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"d3p/internal/outputs"
	"d3p/internal/stattest"
)

// imageConfig is an example of configs/ that is fitted to images of datasets/.
type imageConfig struct {
	data    string
	records int
	weights int // as published for the network
	latent  bool
}

// imageConfigs lists them by name. 688,884 and 640,423 are the auto-encoders of
// the d3p paper (arXiv:2103.11648), 26,010 the MNIST network of the Opacus
// benchmark.
func imageConfigs() map[string]imageConfig {
	const digits, scenes = "digits-images-idx3-ubyte", "scenes.npy"
	return map[string]imageConfig{
		"mlp-mnist": {digits, 128, 784*100 + 100 + 100*10 + 10, false},
		"cnn-mnist": {digits, 128, 26010, false},
		"vae-mnist": {digits, 128, 688884, true},
		"vae-conv":  {scenes, 32, 640423, true},
	}
}

// TestImagesFit fits every example of images for two private steps and uses
// the run: weights of the published number in a safetensors file and nowhere
// else, predictions, and for auto-encoders pictures.
func TestImagesFit(t *testing.T) {
	if stattest.Race {
		t.Skip("minutes under the race detector; internal/cpu and internal/fit look for races")
	}
	for name, c := range imageConfigs() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run, data := filepath.Join(dir, "run"), filepath.Join("../../datasets", c.data)
			d3p(t, "fit", data, "--model", filepath.Join("../../configs", name+".yaml"), "--records", strconv.Itoa(c.records),
				"--batch-size", "4", "--steps", "2", "--out", run, "--quiet",
				"--noise-multiplier", "4", "--insecure-noise-seed", "1") // whose price, which takes seconds, nobody asks for
			raw, err := os.ReadFile(filepath.Join(run, "release", "params.json"))
			if err != nil {
				t.Fatal(err)
			}
			var params outputs.Parameters
			if err := json.Unmarshal(raw, &params); err != nil {
				t.Fatal(err)
			}
			if w := params.Guide.Weights; w == nil || w.Numbers != c.weights || len(params.Guide.Lambda) > 0 || len(raw) > 200_000 {
				t.Errorf("params.json has %d bytes, lambda of %d numbers and weights %+v, want %d in a file", len(raw), len(params.Guide.Lambda), w, c.weights)
			}
			if info, err := os.Stat(filepath.Join(run, "release", outputs.WeightsName)); err != nil || info.Size() < int64(8*c.weights) {
				t.Errorf("%s: %v, %v", outputs.WeightsName, info, err)
			}
			few := filepath.Join(dir, "few.npy")
			d3p(t, "simulate", filepath.Join("../../configs", name+".yaml"), "-n", "3", "--out", few)
			predictions := []string{"predict", run, few, "--out", filepath.Join(dir, "predictions.csv"), "--draws", "2", "--quiet"}
			if !c.latent {
				d3p(t, predictions...)
				return
			}
			d3p(t, append(predictions, "--grid", filepath.Join(dir, "seen.png"), "--images", "2")...)
			d3p(t, "twin", run, "--grid", filepath.Join(dir, "drawn.png"), "--images", "2", "--quiet")
			for _, picture := range []string{"seen.png", "drawn.png"} {
				if info, err := os.Stat(filepath.Join(dir, picture)); err != nil || info.Size() < 500 {
					t.Errorf("%s: %v, %v", picture, info, err)
				}
			}
		})
	}
}
