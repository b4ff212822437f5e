package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkScale is d3p fit of a logistic regression on 19 whole numbers of a byte, of
// 1e5, 1e6 and 1e7 records, with the table in memory and on disk, by two cores. Other
// numbers of records are in BENCH_RECORDS: 1e8 need 6 GB of disk and 2.5 GB for the
// table. anonymous-MB is the most memory that no file backs.
func BenchmarkScale(b *testing.B) {
	records := "1e5 1e6 1e7"
	if own := os.Getenv("BENCH_RECORDS"); own != "" {
		records = own
	}
	for _, text := range strings.Fields(records) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.Fatal(err)
		}
		data, model := writeCounts(b, int(n))
		for _, place := range []string{"memory", "disk"} {
			b.Run(text+"/"+place, func(b *testing.B) {
				for range b.N {
					anonymous := 0
					d3p := commandBeside(b, data, "fit", "--epsilon", "1", "--table1", "none", "--table", place, "--quiet", "--model", model, "--out", filepath.Join(b.TempDir(), "run"), data)
					start := time.Now()
					if err := d3p.Start(); err != nil {
						b.Fatal(err)
					}
					ended := make(chan error, 1)
					go func() { ended <- d3p.Wait() }()
					for running := true; running; {
						select {
						case err := <-ended:
							if err != nil {
								b.Fatal(err)
							}
							running = false
						case <-time.After(50 * time.Millisecond):
							anonymous = max(anonymous, anonymousMemory(d3p.Process.Pid))
						}
					}
					processor := d3p.ProcessState.UserTime() + d3p.ProcessState.SystemTime()
					b.ReportMetric(processor.Seconds(), "processor-s")
					b.ReportMetric(float64(processor.Nanoseconds())/n, "processor-ns/record")
					b.ReportMetric(time.Since(start).Seconds(), "s")
					b.ReportMetric(float64(anonymous)/1024, "anonymous-MB")
				}
			})
		}
		os.Remove(data)
	}
}

// commandBeside is d3p with args; beside file is a link to this test by that name.
func commandBeside(b *testing.B, file string, args ...string) *exec.Cmd {
	b.Helper()
	d3p := filepath.Join(filepath.Dir(file), "d3p") // TestMain is the command of this name
	test, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink(test, d3p); err != nil && !os.IsExist(err) {
		b.Fatal(err)
	}
	c := exec.Command(d3p, args...)
	c.Stderr = os.Stderr
	return c
}

// anonymousMemory is what a process has in memory that no file backs, in kB; 0: unknown.
func anonymousMemory(pid int) (kB int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "RssAnon: %d kB", &kB); n == 1 {
			return kB
		}
	}
	return 0
}

// writeCounts writes n records of 19 whole numbers below 100 and a label, and the model
// file: a block of rows again and again.
func writeCounts(b *testing.B, n int) (data, model string) {
	b.Helper()
	const d = 19
	var head, columns, terms, block bytes.Buffer
	for j := range d {
		fmt.Fprintf(&head, "x%d,", j)
		fmt.Fprintf(&columns, "    x%d: {type: integer, lower: 0, upper: 99, scale: {center: 50, by: 29}}\n", j)
		fmt.Fprintf(&terms, " + x%d", j)
	}
	const rows = 20_000
	rng := rand.New(rand.NewPCG(3, 4))
	for range rows {
		for range d {
			fmt.Fprintf(&block, "%d,", rng.IntN(100))
		}
		fmt.Fprintf(&block, "%d\n", rng.IntN(2))
	}
	return writeRows(b, n, rows, head.String(), columns.String(), terms.String(), block.Bytes())
}
