// Package measure reads what programs print about their speed into values with units, makes statistics of repetitions, and compares them with what was
// measured before.
//
// The way in is Metrics, the built-in tool that makes one table and one file of all runs of a step. Which lines it looks for, and what others have
// measured, is data: the files *.hcl here hold what comes with hexmage; package steps/metrics reads them, and a workspace's own. The package does
// not know HCL or devices, nor how a run came to its files.
package measure

import "embed"

// Shipped has the files of metrics and baselines that come with hexmage.
//
//go:embed *.hcl
var Shipped embed.FS
