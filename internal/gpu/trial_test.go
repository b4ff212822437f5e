//go:build linux && !nogpu

package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/privacy"
)

// spoiledSteps is a driver that changes a run before the device sees it.
type spoiledSteps struct {
	*oneThread
	spoil func(*run)
}

func (d spoiledSteps) upload(to address, from unsafe.Pointer, bytes int64) error {
	if bytes == int64(unsafe.Sizeof(run{})) {
		d.spoil((*run)(from))
	}
	return d.oneThread.upload(to, from, bytes)
}

// The check before a fit sees a device that draws another batch, adds other noise or
// clips otherwise in the steps that it takes by itself, and nothing on a right one.
func TestTrialOfSteps(t *testing.T) {
	m := cohort(t)
	for name, spoil := range map[string]func(*run){
		"":                           func(*run) {},
		"batches of another stretch": func(r *run) { r.network.firstBlock++ },
		"batches of another step":    func(r *run) { r.firstStep++ },
		"half of the noise":          func(r *run) { r.gradientNoise /= 2 },
		"no noise, and no clipping":  func(r *run) { r.gradientNoise, r.tape.clipKind = 1e-9, clipNone },
		"fewer rounds":               func(r *run) { r.network.blocks -= 64 },
	} {
		d := spoiledSteps{newOneThread(t, 1<<30), spoil}
		for _, p := range []privacy.Precision{privacy.Float32, privacy.Float64} {
			err := privacy.Try(newEngine("cuda:test", d, Options{}), cpu.New(cpu.Options{Threads: 1}), m, p)
			if name == "" && err != nil {
				t.Error(err)
			}
			if name != "" && (!errors.Is(err, privacy.ErrWrong) || !strings.Contains(err.Error(), "cuda:test releases")) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A right device passes with every example that it can run.
func TestTrialOfExamples(t *testing.T) {
	files, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.Read(file, text, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("../../configs", name)) })
		if err != nil {
			t.Fatal(err)
		}
		if m.Likelihood == nil || m.Likelihood.P > 5000 || Supports(m.Likelihood) != nil {
			continue // networks: the smaller ones suffice
		}
		if err := privacy.Try(newEngine("cuda:test", newOneThread(t, 1<<30), Options{}), cpu.New(cpu.Options{Threads: 1}), m, privacy.Float32); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		tried++
	}
	if tried < 10 {
		t.Errorf("%d examples", tried)
	}
}
