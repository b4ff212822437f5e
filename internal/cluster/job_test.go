package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// work has the tasks of a test's processes: the test binary is its own worker, so that a
// real launcher starts real processes.
const work = "D3P_CLUSTER_TEST_WORK"

func TestMain(m *testing.M) {
	do := os.Getenv(work)
	if do == "" {
		os.Exit(m.Run())
	}
	j, err := Join()
	if err == nil {
		err = works[do](j)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// works are the tasks of a process, by name.
var works = map[string]func(*Job) error{
	"all": func(j *Job) error {
		x := make([]float64, 1000)
		for i := range x {
			x[i] = float64((j.Rank + 1) * (i + 1))
		}
		own := slices.Clone(x)
		if err := j.Add(x); err != nil {
			return err
		}
		if j.Rank > 0 && !slices.Equal(x, own) {
			return errors.New("a sum left rank 0")
		}
		if err := j.Share(x); err != nil {
			return err
		}
		all := j.Size * (j.Size + 1) / 2
		for i, v := range x {
			if v != float64(all*(i+1)) {
				return fmt.Errorf("sum %d is %g, want %d", i, v, all*(i+1))
			}
		}
		b, err := j.Broadcast([]byte(fmt.Sprint("from ", j.Rank)))
		if err != nil || string(b) != "from 0" {
			return fmt.Errorf("broadcast %q: %w", b, err)
		}
		if b, err := j.Broadcast(nil); err != nil || len(b) != 0 {
			return fmt.Errorf("broadcast of nothing %q: %w", b, err)
		}
		largest := []int64{int64(j.Rank), -int64(j.Rank)}
		if err := j.Max(largest); err != nil || !slices.Equal(largest, []int64{int64(j.Size - 1), 0}) {
			return fmt.Errorf("largest %d: %w", largest, err)
		}
		if err := j.Agree(nil); err != nil {
			return fmt.Errorf("agreement about nothing: %w", err)
		}
		mine := error(nil)
		if j.Rank > 0 {
			mine = errors.New("of " + fmt.Sprint(j.Rank))
		}
		agreed := j.Agree(mine)
		var of *RankError
		if j.Rank == 1 && agreed != mine || j.Rank != 1 && (!errors.As(agreed, &of) || of.Rank != 1 || of.Message != "of 1") {
			return fmt.Errorf("agreed on %v", agreed)
		}
		if j.Local != j.Rank { // all are on this machine
			return fmt.Errorf("rank %d is process %d of its machine", j.Rank, j.Local)
		}
		fmt.Printf("rank %d of %d, %s\n", j.Rank, j.Size, j.Library)
		return j.Close()
	},
	"crash": func(j *Job) (err error) { // Go's own signals work beside the library's
		defer func() {
			if recover() != nil {
				err = j.Close()
				fmt.Println("recovered")
			}
		}()
		var nowhere *Job
		nowhere.Rank = 1
		return nil
	},
	"times": func(j *Job) error {
		x := make([]float64, 128)
		sum := func() error {
			if err := j.Add(x); err != nil {
				return err
			}
			return j.Share(x)
		}
		if err := sum(); err != nil {
			return err
		}
		const n = 2000
		allocated := testing.AllocsPerRun(100, func() { err := sum(); _ = err })
		start := time.Now()
		for range n {
			if err := sum(); err != nil {
				return err
			}
		}
		if j.Rank == 0 {
			fmt.Printf("%.2f us a sum of 128, %g allocations\n", time.Since(start).Seconds()/n*1e6, allocated)
		}
		return j.Close()
	},
}

// launchWith are the launchers of the two MPIs that Debian has.
var launchWith = map[string][]string{
	"Open MPI": {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"},
	"MPICH":    {"mpiexec.mpich", "-n"},
}

// launch runs a task in n processes and returns their output.
func launch(t *testing.T, mpi string, n int, task string, env ...string) (string, error) {
	t.Helper()
	by := launchWith[mpi]
	if _, err := exec.LookPath(by[0]); err != nil {
		t.Skipf("%s is not installed (Debian: openmpi-bin, mpich)", by[0])
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, by[0], append(slices.Clone(by[1:]), fmt.Sprint(n), os.Args[0])...)
	c.Env = append(append(os.Environ(), work+"="+task), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestSumBroadcastAndAgreement(t *testing.T) {
	for mpi, says := range map[string]string{"Open MPI": "Open MPI", "MPICH": "MPICH"} {
		for _, n := range []int{2, 3} {
			t.Run(fmt.Sprint(mpi, n), func(t *testing.T) {
				out, err := launch(t, mpi, n, "all")
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for rank := range n {
					if !strings.Contains(out, fmt.Sprintf("rank %d of %d, %s", rank, n, says)) {
						t.Errorf("rank %d is not in\n%s", rank, out)
					}
				}
			})
		}
	}
}

// The launchers of more than one machine count the processes of each.
func TestProcessesOfAMachine(t *testing.T) {
	for variable, launcher := range map[string]string{"OMPI_COMM_WORLD_LOCAL_RANK": "mpirun of Open MPI", "MPI_LOCALRANKID": "mpiexec of MPICH", "SLURM_LOCALID": "srun"} {
		getenv := func(name string) string { return map[string]string{variable: "3"}[name] }
		if got := localRank(getenv); got != 3 {
			t.Errorf("%s: process %d of its machine, want 3", launcher, got)
		}
	}
	if got := localRank(func(string) string { return "" }); got != 0 {
		t.Errorf("without a launcher: process %d", got)
	}
}

func TestSignalsOfGo(t *testing.T) {
	for mpi := range launchWith {
		t.Run(mpi, func(t *testing.T) {
			if out, err := launch(t, mpi, 2, "crash"); err != nil || strings.Count(out, "recovered") != 2 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestSumDoesNotAllocate(t *testing.T) {
	for mpi := range launchWith {
		t.Run(mpi, func(t *testing.T) {
			out, err := launch(t, mpi, 2, "times")
			if err != nil || !strings.Contains(out, ", 0 allocations") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Log(out)
		})
	}
}

// A library that belongs to another launcher sees one process: d3p must not run as many
// fits as there are processes.
func TestLibraryOfAnotherLauncher(t *testing.T) {
	for mpi, library := range map[string]string{"MPICH": "libmpi.so.40", "Open MPI": "libmpich.so.12"} {
		t.Run(mpi, func(t *testing.T) {
			out, err := launch(t, mpi, 2, "all", "D3P_MPI="+library)
			if err == nil || !strings.Contains(out, "another MPI's library") || !strings.Contains(out, "D3P_MPI") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestNoLauncher(t *testing.T) {
	j, err := join(func(string) string { return "" })
	if err != nil || j.Size != 1 || j.Rank != 0 {
		t.Fatalf("%+v, %v", j, err)
	}
	x := []float64{1, 2}
	if err := errors.Join(j.Add(x), j.Share(x)); err != nil || !slices.Equal(x, []float64{1, 2}) {
		t.Errorf("sum %g, %v", x, err)
	}
	mine := errors.New("mine")
	if err := j.Agree(mine); err != mine {
		t.Errorf("agreed on %v", err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A command that takes no part in a job refuses to run once in each process.
func TestOneProcess(t *testing.T) {
	for variable, launcher := range map[string]string{"OMPI_COMM_WORLD_SIZE": "mpirun of Open MPI", "PMI_SIZE": "mpiexec of MPICH", "SLURM_STEP_NUM_TASKS": "srun"} {
		for size, refused := range map[string]bool{"": false, "1": false, "3": true} {
			t.Setenv(variable, size)
			if err := OneProcess(); (err != nil) != refused || refused && !strings.Contains(err.Error(), launcher+" started 3 processes") {
				t.Errorf("%s=%s: %v", variable, size, err)
			}
			t.Setenv(variable, "")
		}
	}
}

// Processes of launchers that do not give their number do not take themselves for the only one.
func TestOtherLaunchers(t *testing.T) {
	for _, c := range []struct {
		environ map[string]string
		alone   bool
	}{
		{map[string]string{}, true},
		{map[string]string{"PMIX_RANK": "0"}, true},
		{map[string]string{"PMIX_RANK": "1"}, false},
		{map[string]string{"PALS_RANKID": "2", "PMI_SIZE": "1"}, false},
	} {
		_, err := join(func(name string) string { return c.environ[name] })
		if (err == nil) != c.alone {
			t.Errorf("%v: %v", c.environ, err)
		}
	}
	t.Setenv("PMIX_RANK", "1")
	if err := OneProcess(); err == nil || !strings.Contains(err.Error(), "process 1 of a launcher") {
		t.Error(err)
	}
}

func TestMissingLibrary(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"PMI_SIZE": "4", "D3P_MPI": "/nowhere/libmpi.so"}[name]
	}
	_, err := join(getenv)
	if err == nil || !strings.Contains(err.Error(), "started 4 processes") || !strings.Contains(err.Error(), "/nowhere/libmpi.so") {
		t.Error(err)
	}
}
