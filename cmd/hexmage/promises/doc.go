// Package promises has one test for each promise that hexmage makes about results: what a cache key covers, what an
// action may see and change, and what is left after a crash.
//
// The tests start the program on a small workspace and look at files, processes and outputs from outside. They do not
// know the engine's packages, so they hold while those change. internal/archtest/mutants breaks each promise in turn
// and expects its test to fail.
package promises
