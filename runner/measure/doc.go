// Package measure reads metrics from the output of programs, computes statistics of repetitions, and compares the
// statistics with baselines and limits.
//
// Metrics is the tool that writes one table of all runs of a step. Package steps/metrics reads the patterns and
// baselines from the shipped *.hcl and from a workspace. The package does not know HCL, devices, or how a run wrote its
// files.
package measure

import "embed"

// Shipped contains hexmage's own files of metrics and baselines.
//
//go:embed *.hcl
var Shipped embed.FS
