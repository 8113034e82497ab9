// Package diagnose finds in what a compiler, a tool, a device or its system log printed the failure that explains the
// others, and says its cause and what to do.
//
// The failures are a Catalogue: patterns of lines with cause, remedy and where they were seen. The files *.hcl here hold the
// shipped ones; package steps/failures reads them, and a workspace's own. This package knows no HCL, no
// device and no step; it reads text of any size in bounded memory and time, and believes nothing of it.
package diagnose

import "embed"

// Shipped has the files of the catalogue that comes with hexmage.
//
//go:embed *.hcl
var Shipped embed.FS
