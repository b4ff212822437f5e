package cluster

import (
	"fmt"
	"os"
	"strconv"
)

// launcher is the program that started this process.
type launcher struct {
	name  string // for messages: "mpirun of Open MPI"
	size  int    // variable with the number of processes
	first abi    // the most likely interface of its library
}

// launchers are the launchers and the environment variables with their number of processes.
// If two are set the first counts: srun sets its own beside those of the MPI that it
// starts.
var launchers = []struct {
	variable string
	launcher
}{
	{"OMPI_COMM_WORLD_SIZE", launcher{name: "mpirun of Open MPI", first: openMPI}},
	{"PMI_SIZE", launcher{name: "mpiexec of MPICH", first: mpich}},
	{"SLURM_STEP_NUM_TASKS", launcher{name: "srun", first: openMPI}},
}

// otherRanks are the environment variables with the rank of a process in launchers that do not
// give the number of processes: those of PMIx, such as prun, and that of Cray.
var otherRanks = []string{"PMIX_RANK", "PALS_RANKID"}

// known returns an error in a process of rank 1 or more of another launcher: it would take
// itself for the only one.
func known(getenv func(string) string) error {
	if findLauncher(getenv).size > 1 {
		return nil
	}
	for _, name := range otherRanks {
		if rank, err := strconv.Atoi(getenv(name)); err == nil && rank > 0 {
			return fmt.Errorf("%s says that this is process %d of a launcher which does not say how many there are, and each would spend the budget "+
				"for results of its own (use mpirun of Open MPI or MPICH, or srun; or type the command without a launcher)", name, rank)
		}
	}
	return nil
}

// localRanks are the environment variables that hold the rank on this machine.
var localRanks = []string{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}

// localRank is the rank on this machine, 0 if no launcher gives it.
func localRank(getenv func(string) string) int {
	for _, name := range localRanks {
		if rank, err := strconv.Atoi(getenv(name)); err == nil && rank > 0 {
			return rank
		}
	}
	return 0
}

// findLauncher finds the launcher of this process in its environment, getenv; without a
// launcher the size is 1.
func findLauncher(getenv func(string) string) launcher {
	for _, l := range launchers {
		if size, err := strconv.Atoi(getenv(l.variable)); err == nil && size > 1 {
			l.size = size
			return l.launcher
		}
	}
	return launcher{name: "no launcher", size: 1, first: openMPI}
}

// OneProcess returns an error if a launcher started several processes. A command that takes
// no part in a job would release something else in each of them.
func OneProcess() error {
	if err := known(os.Getenv); err != nil {
		return err
	}
	if by := findLauncher(os.Getenv); by.size > 1 {
		return fmt.Errorf("%s started %d processes, and each would spend the budget for results of its own (type the command without it)", by.name, by.size)
	}
	return nil
}
