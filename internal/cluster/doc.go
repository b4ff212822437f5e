// Package cluster joins the processes that an MPI launcher started (mpirun, srun) into one
// job: a sum over all of them, a broadcast, a common end.
//
// It opens the MPI library at run time, so neither building the program nor running it
// alone needs one. The launcher's environment variables show which library to open. Three
// binary interfaces are supported: Open MPI 4 and 5, MPICH and its kin (Intel MPI, MVAPICH,
// Cray MPICH), and the standard one of MPI 5.0.
//
// Messages between processes are not encrypted; docs/privacy.md, claim 22, has the
// assumptions.
package cluster
