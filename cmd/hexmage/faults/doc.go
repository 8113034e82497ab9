// Package faults tests hexmage with injected faults: kills, full disks, flipped bits, read-only caches, many processes,
// wrong clocks.
//
// Each test runs the real binary on pipelines of shell commands and does some damage. Then it expects the outputs of a
// clean build, perhaps after a clear error. The package does not know hexmage's internals.
//
// `go test` runs a short form of each test. `go test -long` (mage faults) runs hundreds of rounds. Random tests print
// their seed, and -seed N repeats a test with the seed N. TestHunt runs for the duration HEXMAGE_HUNT (mage hunt).
// -short, for the race detector, skips all tests, since the detector does not see other processes. The tests run only
// on Linux, since actions need Linux.
package faults
