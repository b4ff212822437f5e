package privacy

// A ParallelWorker is a Worker that lends its threads between two steps.
type ParallelWorker interface {
	Worker
	// Threads is the largest number of calls of work that Parallel makes at a time.
	Threads() int
	// Parallel calls work for pieces 0..n-1 and returns when all are done. Overlapping calls
	// have different thread numbers, below Threads. It allocates nothing.
	Parallel(n int, work func(thread, piece int))
}

// Loops runs loops over many independent numbers on the threads of a worker. A loop with
// independent iterations gives the same bits on any number of threads. Loops do not
// overlap, and allocate nothing.
type Loops struct {
	worker ParallelWorker // nil: one thread
	size   int
	work   func(thread, low, high int)
	piece  func(thread, k int) // runPiece, made once
}

// Numbers of a piece, and of the least loop that is worth a second thread: it
// takes a nanosecond or two a number.
const loopPiece, sharedLoop = 1 << 13, 1 << 15

// newLoops uses the threads of w if it lends them.
func newLoops(w Worker) *Loops {
	l := &Loops{}
	if s, ok := w.(ParallelWorker); ok && s.Threads() > 1 {
		l.worker = s
	}
	l.piece = l.runPiece
	return l
}

// Threads is the most calls of work that Run makes at a time. Nil Loops have one
// thread.
func (l *Loops) Threads() int {
	if l == nil || l.worker == nil {
		return 1
	}
	return l.worker.Threads()
}

// Run calls work for ranges low <= i < high that cover 0..n-1; all but the last
// are whole multiples of 16 long. thread, below Threads, is another one in calls
// that overlap.
func (l *Loops) Run(n int, work func(thread, low, high int)) {
	if l.Threads() == 1 || n < sharedLoop {
		for low := 0; low < n; low += loopPiece {
			work(0, low, min(low+loopPiece, n))
		}
		return
	}
	l.size, l.work = n, work
	l.worker.Parallel((n+loopPiece-1)/loopPiece, l.piece)
}

func (l *Loops) runPiece(thread, k int) {
	l.work(thread, k*loopPiece, min((k+1)*loopPiece, l.size))
}
