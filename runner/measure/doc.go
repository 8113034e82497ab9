// Package measure reads metrics from the output of programs, makes statistics of repetitions, and compares them with
// baselines and limits.
//
// Metrics is the tool that makes one table of all runs of a step. The shipped patterns and baselines are in *.hcl:
// package steps/metrics reads these files and a workspace's. The package does not know HCL or devices, or how a run
// made its files.
package measure

import "embed"

// Shipped has the files of metrics and baselines that come with hexmage.
//
//go:embed *.hcl
var Shipped embed.FS
