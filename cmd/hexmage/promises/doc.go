// Package promises has one test for each promise about results. The promises are about the content of a cache key, the
// view and effects of an action, and the state after a crash.
//
// The tests start the program on a small workspace and check files, processes and outputs. They do not use the engine's
// packages, so changes to the engine do not affect them. internal/archtest/mutants breaks each promise in turn and
// expects its test to fail.
package promises
