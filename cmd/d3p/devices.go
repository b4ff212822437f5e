package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/cluster"
	"d3p/internal/cpu"
	"d3p/internal/gpu"
	"d3p/internal/privacy"
	"d3p/internal/run"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// device is an engine, and the reason if this machine cannot run it.
type device struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Detail    string `json:"detail"`
}

func devices() []device {
	list := []device{{"cpu", true, fmt.Sprintf("%d threads, %s", runtime.GOMAXPROCS(0), runtime.GOARCH)}}
	cards, err := gpu.Devices()
	if err != nil {
		return append(list, device{"cuda", false, err.Error()})
	}
	for _, c := range cards {
		d := device{fmt.Sprintf("cuda:%d", c.Index), true, fmt.Sprintf("%s, %d GB", c.Name, c.Memory>>30)}
		if err := c.Usable(); err != nil {
			d.Available, d.Detail = false, err.Error()
		}
		list = append(list, d)
	}
	return list
}

// mpi is the library through which the processes of a launcher would talk.
func mpi() device {
	library, err := cluster.Available()
	if err != nil {
		return device{"mpi", false, err.Error()}
	}
	return device{"mpi", true, library}
}

// cudaNumber is n for cuda:n, 0 for cuda, and -1 for any other device.
func cudaNumber(name string) int {
	name, _ = strings.CutSuffix(name, ",cpu")
	kind, index, _ := strings.Cut(name, ":")
	if kind != "cuda" {
		return -1
	}
	n, _ := strconv.Atoi(index) // the table of settings has checked the form
	return n
}

// checkDevice refuses a --device that this machine lacks, before anything is read.
func checkDevice(name string) error {
	n := cudaNumber(name)
	if n < 0 || name == settings.DeviceCUDAThenCPU {
		return nil
	}
	engine, err := openCUDA(name, n, gpu.Options{})
	if err != nil {
		return err
	}
	return status.With(status.NoGPU, engine.Close())
}

func openCUDA(name string, n int, opt gpu.Options) (*gpu.Engine, error) {
	engine, err := gpu.New(n, opt)
	if err != nil {
		return nil, status.With(status.NoGPU, fmt.Errorf("--device %s: %w; use --device cpu", name, err))
	}
	return engine, nil
}

// deviceWork is the number of multiplications in a step of all fits side by side from which
// auto takes a CUDA device. The CPU engine needs about a millisecond for them; launching
// kernels for less work costs more than they save. It is an estimate.
const deviceWork = 1 << 26

// openEngine opens the engine of --device for a number of fits side by side (see run.Host).
// For enough work auto takes the first CUDA device that can run the model, else the CPU. It
// prints its choice if the command line has auto.
func openEngine(r run.Run, fits int) (*run.Engine, error) {
	onCPU := func() (*run.Engine, error) {
		engine := cpu.New(cpu.Options{Threads: r.Job.Threads})
		return &run.Engine{Engine: engine, Together: 1, Close: func() error { return nil }}, nil
	}
	onCUDA := func(card *gpu.Engine) (*run.Engine, error) {
		if err := privacy.Try(card, cpu.New(cpu.Options{Threads: r.Job.Threads}), r.Model, r.Job.TablePrecision()); err != nil {
			return nil, cannotTrust(card, err)
		}
		return &run.Engine{Engine: card, Together: gpu.MostTogether, Close: card.Close}, nil
	}
	opt := gpu.Options{MaxMemory: int64(r.Job.MaxMemory) << 20}
	turn := opt // the processes of one machine take its cards in turn
	if r.Ranks.Several() {
		turn.Turn = r.Ranks.Job.Local
	}
	if n := cudaNumber(r.Job.Device); n >= 0 {
		if !strings.Contains(r.Job.Device, ":") {
			opt = turn
		}
		card, err := openCUDA(r.Job.Device, n, opt)
		var engine *run.Engine
		if err == nil {
			engine, err = onCUDA(card)
		}
		if err != nil && r.Job.Device == settings.DeviceCUDAThenCPU {
			r.Host.Notef("running on cpu: %v", err)
			return onCPU()
		}
		return engine, err
	}
	if r.Job.Device == "cpu" {
		return onCPU()
	}
	why := gpu.Supports(r.Model.Likelihood)
	work := float64(gpu.Products(r.Model.Likelihood)) * r.Plan.SamplingRate * float64(r.Plan.Records) * float64(min(fits, gpu.MostTogether))
	if why == nil && work < deviceWork {
		why = fmt.Errorf("steps of this size are faster there")
	}
	if why == nil {
		card, err := gpu.New(0, turn)
		var engine *run.Engine
		if err == nil {
			engine, err = onCUDA(card)
		}
		if err == nil {
			r.Host.Notef("running on %s", engine.Name())
			return engine, nil
		}
		why = err
	}
	if r.Job.Device == "auto" {
		r.Host.Notef("running on cpu: %v", why)
	}
	return onCPU()
}

// cannotTrust is the error for a card that failed in the trial before a fit or computed
// other numbers than the processor.
func cannotTrust(card *gpu.Engine, err error) error {
	_ = card.Close() // closing fails, too, after the card has failed
	if errors.Is(err, privacy.ErrWrong) {
		return status.With(status.Numeric, fmt.Errorf("%s: %w (nothing was charged; type --device cpu, and report card and driver to the authors of d3p)", card.Name(), err))
	}
	return status.With(status.NoGPU, fmt.Errorf("%s fails in a trial on simulated records: %w (nothing was charged; type --device cuda,cpu to take the processor where a card fails)", card.Name(), err))
}

func newDevices(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "devices",
		Short:   "List the devices that can run a fit, and the MPI library",
		Example: "  d3p devices --json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			all := append(devices(), mpi())
			return a.result(all, func(w io.Writer) {
				for _, d := range all {
					mark := "no "
					if d.Available {
						mark = "yes"
					}
					fmt.Fprintf(w, "%-7s %s  %s\n", d.Name, mark, d.Detail)
				}
			})
		},
	}
}
