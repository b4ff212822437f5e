package run

// UntilStopped is untilStopped, for tests.
var UntilStopped = untilStopped
