package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// device is an engine that this machine can run.
type device struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Detail    string `json:"detail"`
}

func devices() []device {
	return []device{
		{"cpu", true, fmt.Sprintf("%d threads, %s", runtime.GOMAXPROCS(0), runtime.GOARCH)},
		{"cuda", false, "this build has no CUDA engine"},
	}
}

// chooseDevice returns the engine for --device; "" and auto take the CPU.
func chooseDevice(name string) (string, error) {
	if name == "cuda" {
		return "", failWith(statusNoGPU, fmt.Errorf("--device cuda: this build has no CUDA engine; use --device cpu"))
	}
	return "cpu", nil
}

func newDevices(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "devices",
		Short:   "List the devices a fit can run on",
		Example: "  d3p devices --json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			all := devices()
			return a.result(all, func(w io.Writer) {
				for _, d := range all {
					mark := "no "
					if d.Available {
						mark = "yes"
					}
					fmt.Fprintf(w, "%-5s %s  %s\n", d.Name, mark, d.Detail)
				}
			})
		},
	}
}
