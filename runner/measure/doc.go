// Package measure reads what programs print about their speed into values with units, makes statistics of repetitions, and compares them with what was
// measured before.
//
// It does not know devices, files or tables; runtool writes those.
package measure
