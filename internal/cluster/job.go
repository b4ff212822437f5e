package cluster

import (
	"errors"
	"fmt"
	"os"
)

// Job is this process's place among the processes of one start. Its methods are collective:
// every process calls the same ones in the same order, with slices of equal length. Not
// safe for concurrent use.
type Job struct {
	Rank, Size int
	// Local is the rank among the processes of this machine, from the launcher; 0 if it
	// does not give one.
	Local int
	// Library is the version that the MPI library reports; empty for a process alone.
	Library string

	mpi *library
}

// Alone is the job of a single process.
func Alone() *Job { return &Job{Size: 1} }

// Join is the job in which a launcher started this process, or Alone. The error names the
// library that is missing or does not belong to the launcher, and the variable to set.
func Join() (*Job, error) { return join(os.Getenv) }

func join(getenv func(string) string) (*Job, error) {
	by := findLauncher(getenv)
	if by.size == 1 {
		return Alone(), known(getenv)
	}
	lib, err := open(getenv(LibraryVariable), by.first)
	if err != nil {
		return nil, fmt.Errorf("%s started %d processes, and %w", by.name, by.size, err)
	}
	rank, size, err := lib.start()
	if err != nil {
		return nil, err
	}
	j := &Job{Rank: rank, Size: size, Local: localRank(getenv), Library: lib.version(), mpi: lib}
	if size != by.size {
		return nil, errors.Join(fmt.Errorf("%s started %d processes, but %s (%s) counts %d: it is another MPI's library "+
			"(set D3P_MPI to the libmpi of the launcher; under srun, choose its --mpi, such as pmix or pmi2)",
			by.name, by.size, lib.file, j.Library, size), j.Close())
	}
	return j, nil
}

// LibraryVariable is the environment variable that chooses the MPI library's file.
const LibraryVariable = "D3P_MPI"

// Available is the version of the MPI library that a launched process of this machine
// would open first. It returns an error if the machine has no MPI library.
func Available() (library string, err error) {
	lib, err := open(os.Getenv(LibraryVariable), findLauncher(os.Getenv).first)
	if err != nil {
		return "", err
	}
	return lib.version() + " (" + lib.file + ")", nil
}

// Add replaces x on rank 0 by its sum over all processes. Other ranks keep their x.
func (j *Job) Add(x []float64) error {
	if j.Size == 1 {
		return nil
	}
	return j.mpi.add(x)
}

// Share replaces x by the x of rank 0.
func (j *Job) Share(x []float64) error {
	if j.Size == 1 {
		return nil
	}
	return j.mpi.share(x)
}

// Max replaces x by the largest over all processes, number by number.
func (j *Job) Max(x []int64) error {
	if j.Size == 1 || len(x) == 0 {
		return nil
	}
	return j.mpi.max(x)
}

// Broadcast sends b of rank 0 to all, and returns it on each.
func (j *Job) Broadcast(b []byte) ([]byte, error) {
	if j.Size == 1 {
		return b, nil
	}
	return j.broadcast(b, 0)
}

// broadcast sends b of a given rank to all.
func (j *Job) broadcast(b []byte, rank int) ([]byte, error) {
	length := []int64{0}
	if j.Rank == rank {
		length[0] = int64(len(b))
	}
	if err := j.mpi.max(length); err != nil {
		return nil, err
	}
	if j.Rank != rank {
		b = make([]byte, length[0])
	}
	return b, j.mpi.broadcast(b, rank)
}

// Agree reports on every process the error of the lowest rank that has one, with its rank.
// So all continue, or all stop with the same message.
func (j *Job) Agree(err error) error {
	if j.Size == 1 {
		return err
	}
	const none = 0
	first := []int64{none}
	if err != nil {
		first[0] = int64(j.Size - j.Rank)
	}
	if e := j.mpi.max(first); e != nil {
		return errors.Join(err, e)
	}
	if first[0] == none {
		return nil
	}
	rank := j.Size - int(first[0])
	var text []byte
	if rank == j.Rank {
		text = []byte(err.Error())
	}
	text, e := j.broadcast(text, rank)
	switch {
	case e != nil:
		return errors.Join(err, e)
	case rank == j.Rank:
		return err
	}
	return &RankError{Rank: rank, Message: string(text)}
}

// RankError is an error of another process of the job.
type RankError struct {
	Rank    int
	Message string
}

func (e *RankError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Message) }

// Close leaves the job. All processes must call it.
func (j *Job) Close() error {
	if j.mpi == nil {
		return nil
	}
	lib := j.mpi
	j.mpi = nil
	return lib.finish()
}
