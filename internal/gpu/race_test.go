//go:build race

package gpu

// raceDetector says that the race detector slows everything down, and makes
// calls of the library allocate.
const raceDetector = true
