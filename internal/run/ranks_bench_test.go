package run_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"d3p/internal/cluster"
	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/run"
)

// ranksData has, in the processes that BenchmarkRanks starts, the folder of the data.
const ranksData = "D3P_RANKS_BENCHMARK"

func TestMain(m *testing.M) {
	folder := os.Getenv(ranksData)
	if folder == "" {
		os.Exit(m.Run())
	}
	job, err := cluster.Join()
	if err == nil {
		err = timeRanks(job, folder)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

const (
	rankRecords = 200_000
	rankColumns = 19
	rankSteps   = 200
)

// BenchmarkRanks compares a step of two processes with that of one which has half of the
// records, and with the library's Allreduce of as many numbers, in the same run. From what
// it measures it computes how long fits take on up to 1024 processes of one thread each.
func BenchmarkRanks(b *testing.B) {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		b.Skip("mpirun.openmpi is not installed (Debian: openmpi-bin)")
	}
	folder := b.TempDir()
	if err := writeRankData(folder); err != nil {
		b.Fatal(err)
	}
	c := exec.Command(mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", os.Args[0])
	c.Env = append(os.Environ(), ranksData+"="+folder, "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	fmt.Print(string(out))
	if err != nil {
		b.Fatal(err)
	}
}

// writeRankData writes the table and its first half.
func writeRankData(folder string) error {
	rng := rand.New(rand.NewPCG(3, 4))
	names := make([]string, rankColumns)
	for j := range names {
		names[j] = fmt.Sprint("x", j)
	}
	text := []byte(strings.Join(names, ",") + ",y\n")
	for i := range rankRecords {
		if i == rankRecords/2 {
			if err := os.WriteFile(filepath.Join(folder, "half.csv"), text, 0o600); err != nil {
				return err
			}
		}
		for range rankColumns {
			text = fmt.Appendf(text, "%d,", rng.IntN(100))
		}
		text = fmt.Appendf(text, "%d\n", rng.IntN(2))
	}
	return os.WriteFile(filepath.Join(folder, "all.csv"), text, 0o600)
}

// rankModel is a logistic regression on whole numbers of a byte.
func rankModel() (*models.Model, error) {
	var text, terms strings.Builder
	fmt.Fprintf(&text, "d3p: 1\nname: ranks\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n", rankRecords)
	for j := range rankColumns {
		fmt.Fprintf(&text, "    x%d: {type: integer, lower: 0, upper: 99, scale: {center: 50, by: 29}}\n", j)
		fmt.Fprintf(&terms, " + x%d", j)
	}
	fmt.Fprintf(&text, "    y: {type: binary, levels: [\"0\", \"1\"]}\nmodel: {formula: y ~ 1%s, family: bernoulli}\n", &terms)
	return models.Read("ranks.yaml", []byte(text.String()), nil)
}

// laps are the times of steps.
type laps struct {
	last time.Time
	took []float64 // s
}

// Step implements fit.Observer.
func (l *laps) Step(int, int, func() float64) {
	now := time.Now()
	if !l.last.IsZero() {
		l.took = append(l.took, now.Sub(l.last).Seconds())
	}
	l.last = now
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }

// timeSteps fits once and returns what a step takes, and what reading did, in seconds.
func timeSteps(data string, rate float64, ranks privacy.Ranks) (step, reading float64, err error) {
	m, err := rankModel()
	if err != nil {
		return 0, 0, err
	}
	p, err := plan.New(m, plan.Config{Epsilon: 1, Steps: rankSteps, SamplingRate: rate, Table1: "none"})
	if err != nil {
		return 0, 0, err
	}
	cfg := privacy.TableConfig{Data: data, Encoding: m.Encoding, Spare: m.Likelihood.K - m.Likelihood.K0, Precision: privacy.Float32, Root: noise.Insecure(1), PackFrom: 1}
	root, err := noise.System()
	if err != nil {
		return 0, 0, err
	}
	if ranks != nil {
		cfg.Rank, cfg.Of = ranks.Rank(), ranks.Size()
	}
	start := time.Now()
	c, err := privacy.NewCurator(privacy.CuratorConfig{
		Table: privacy.NewTable(cfg), Engine: cpu.New(cpu.Options{Threads: 1}), Root: root, Ranks: ranks, Budget: p.Budget(), Relation: p.Relation(),
	})
	if err != nil {
		return 0, 0, err
	}
	reading = time.Since(start).Seconds()
	watch := laps{took: make([]float64, 0, rankSteps)}
	if _, err := fit.Run(context.Background(), p, c, &watch); err != nil {
		return 0, 0, err
	}
	return median(watch.took), reading, nil
}

// timeRanks is the work of one of the processes. All of them work alone at the same time,
// so that they share the memory's bandwidth as they do together.
func timeRanks(job *cluster.Job, folder string) error {
	ranks := run.NewRanks(job)
	out := bufio.NewWriter(os.Stdout)
	if job.Rank > 0 {
		out = bufio.NewWriter(nil)
	}
	fmt.Fprintf(out, "%s, logistic regression on %d columns, two processes of one thread\n\n", strings.SplitN(job.Library, ",", 2)[0], rankColumns)
	fmt.Fprintln(out, "records a step   half, us   Allreduce, us   two processes, us   ratio")
	var costs costs
	for _, rate := range []float64{0.25, 0.025} {
		var half, sum, both, reading []float64
		for range 3 {
			step, read, err := timeSteps(filepath.Join(folder, "half.csv"), rate, nil)
			if err != nil {
				return err
			}
			half, reading = append(half, step), append(reading, read)
			numbers := make([]int64, rankColumns+3)
			for range 2000 {
				start := time.Now()
				if err := job.Max(numbers); err != nil {
					return err
				}
				sum = append(sum, time.Since(start).Seconds())
			}
			if step, _, err = timeSteps(filepath.Join(folder, "all.csv"), rate, ranks.InStep()); err != nil {
				return err
			}
			both = append(both, step)
		}
		h, s, t := median(half), median(sum), median(both)
		fmt.Fprintf(out, "%14.0f %10.1f %15.1f %19.1f %7.2f\n", rate*rankRecords, h*1e6, s*1e6, t*1e6, t/(h+s))
		if costs.record == 0 {
			costs = newCosts(h/(rate*rankRecords/2), median(reading)/(rankRecords/2), s)
		}
	}
	if job.Rank == 0 {
		costs.print(out)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return job.Close()
}

// costs are the parts of the time of a fit, in seconds.
type costs struct {
	record  float64 // a record in a step
	reading float64 // a record of the file
	sum     float64 // of two processes
	fixed   float64 // of any process, whatever it holds
}

func newCosts(record, reading, sum float64) costs { return costs{record, reading, sum, 2} }

// message is what a message between two machines adds to a step in a network that is slow,
// Ethernet by TCP.
const message = 25e-6

// time is that of a fit with `drawn` records of the file in each of T = 1000 steps, of
// processes of one thread; network is what a message takes in it. A sum goes up and down a
// tree, whose branches are as long as the logarithm of the number of processes.
func (c costs) time(records, drawn float64, processes int, network float64) (reading, steps, sums float64) {
	const T = 1000
	depth := math.Ceil(math.Log2(float64(processes)))
	p := float64(processes)
	return records * c.reading / p, T * drawn * c.record / p, T * depth * (c.sum + 2*network)
}

func (c costs) print(out *bufio.Writer) {
	fmt.Fprintf(out, "\nComputed for processes of one thread from %.0f ns to read a record, %.1f ns a record in a step, %.1f us a sum of\n"+
		"two processes, %g s for what any process does, and %.0f us a message of a slow network; in seconds,\nwithout Table 1.\n",
		c.reading*1e9, c.record*1e9, c.sum*1e6, c.fixed, message*1e6)
	table := func(title string, records, drawn func(p int) float64) {
		fmt.Fprintf(out, "\n%s\nprocesses     records   reading     steps   sums (memory)   sums (network)     all   efficiency\n", title)
		var one float64
		for p := 1; p <= 1024; p *= 2 {
			n := records(p)
			reading, steps, fast := c.time(n, drawn(p), p, 0)
			_, _, slow := c.time(n, drawn(p), p, message)
			all := reading + steps + slow + c.fixed
			if p == 1 {
				one = all / n
			}
			fmt.Fprintf(out, "%9d %11.3g %9.3g %9.3g %15.3g %16.3g %7.3g %10.0f %%\n", p, n, reading, steps, fast, slow, all, 100*one*n/all/float64(p))
		}
	}
	always := func(n float64) func(int) float64 { return func(int) float64 { return n } }
	each := func(n float64) func(int) float64 { return func(p int) float64 { return n * float64(p) } }
	table("Strong scaling: 10^8 records, default batches of 10^5", always(1e8), always(1e5))
	table("Strong scaling: 10^9 records, default batches of 10^5", always(1e9), always(1e5))
	table("Strong scaling: 10^8 records, a tenth of them in each step", always(1e8), always(1e7))
	table("Weak scaling: 10^6 records a process, a tenth of them in each step", each(1e6), each(1e5))
}
