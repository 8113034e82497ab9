// Package hexmage carries what the binary ships: pipelines, the example op package, the lock file. An installed hexmage
// so works in any folder; a workspace's own files come first.
//
// It holds files and knows nothing of what they mean. The command line is internal/cli.
package hexmage

import "embed"

// Shipped has the shipped pipelines, op package and lock file, under the paths they have in this repository.
//
//go:embed pipelines/*.hcl oppackage/example/src oppackage/example/config hexmage.lock.hcl
var Shipped embed.FS
