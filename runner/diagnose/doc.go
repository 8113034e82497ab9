// Package diagnose finds the root failure in the output of a compiler, a tool or a device, or in a system log. It
// returns cause and remedy.
//
// A Catalog has the patterns of known failures. Package steps/failures reads these patterns from the shipped *.hcl and
// from a workspace. Package diagnose does not know HCL, devices or steps. It reads untrusted text of any size with
// limited memory and time.
package diagnose

import "embed"

// Shipped contains the files of hexmage's catalog.
//
//go:embed *.hcl
var Shipped embed.FS
