// Package measure reads what programs print about their speed into values with units, makes statistics of repetitions, and compares them with what was
// measured before.
//
// The way in is Metrics, the built-in tool that makes one table and one file of all runs of a step. The package does not know devices, nor how a run
// came to its files.
package measure
