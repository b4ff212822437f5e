// Package cluster joins the processes that an MPI launcher started (mpirun, srun)
// into one job: a sum over all of them, a broadcast, an end for all.
//
// The MPI library is opened at run time, as the CUDA driver is: the program needs none
// to be built or to run alone, and the one that the launcher belongs to is found by its
// environment variables. Three binary interfaces are known: Open MPI 4 and 5, MPICH and
// its kin (Intel MPI, MVAPICH, Cray MPICH), and the standard one of MPI 5.0.
//
// What travels between processes is not encrypted. docs/privacy.md says who is trusted.
package cluster
