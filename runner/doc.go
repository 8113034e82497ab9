// Package runner runs actions on devices: it pushes what a device lacks, runs the command there, pulls what it wrote.
//
// A Device is an executor like any other, so device runs are cached, limited and reported like compiles. The package
// knows adb, phones and the emulated one; it does not know pipelines, models or what a command computes.
package runner
