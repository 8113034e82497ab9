// Package runner runs actions on devices: it pushes what a device lacks, runs the command there, pulls what it wrote.
//
// What a device has is not pushed again, and a link that breaks costs a few percent. A device has one user at a time: Lease, Hold.
//
// A Device is an executor like any other, so device runs are cached, limited and reported like compiles. The package
// knows adb, phones and the emulated one; it does not know pipelines, models or what a command computes.
package runner
