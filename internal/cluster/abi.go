package cluster

// abi is a binary interface of MPI libraries: the constants in the mpi.h of a C program.
type abi string

const (
	openMPI  abi = "Open MPI"
	mpich    abi = "MPICH"
	standard abi = "MPI 5"
)

// handles are the constants of an interface. In Open MPI a handle is the address of a
// variable that symbols names.
type handles struct {
	world, double, bytes, long, sum, largest, errorsReturn uintptr
	inPlace                                                uintptr
	serialized                                             uintptr // MPI_THREAD_SERIALIZED
}

// symbols are the variables whose addresses are Open MPI's handles, in the order of
// handles.
var symbols = []string{
	"ompi_mpi_comm_world", "ompi_mpi_double", "ompi_mpi_byte", "ompi_mpi_int64_t",
	"ompi_mpi_op_sum", "ompi_mpi_op_max", "ompi_mpi_errors_return",
}

// constants are the handles of the interfaces with numbers as handles: mpi.h of MPICH 4,
// and the appendix "MPI ABI" of the standard, MPI 5.0.
var constants = map[abi]handles{
	mpich: {
		world: 0x44000000, double: 0x4c00080b, bytes: 0x4c00010d, long: 0x4c00083a,
		sum: 0x58000003, largest: 0x58000001, errorsReturn: 0x54000001,
		inPlace: ^uintptr(0), serialized: 2,
	},
	standard: {
		world: 0x101, double: 0x214, bytes: 0x247, long: 0x258,
		sum: 0x21, largest: 0x23, errorsReturn: 0x143,
		inPlace: 1, serialized: 2048,
	},
}

// files are the libraries' file names, the most specific first. Their numbers count binary
// interfaces.
var files = []struct {
	name string
	abi  abi
}{
	{"libmpi.so.40", openMPI},
	{"libmpich.so.12", mpich},
	{"libmpi.so.12", mpich},      // Intel MPI, MVAPICH, MPICH built from source
	{"libmpi_cray.so.12", mpich}, // Cray
	{"libmpi_abi.so.1", standard},
	{"libmpi_abi.so.0", standard},
}
