// Package hexmage carries what the binary ships: pipelines, modules and the example op package. An installed hexmage
// so works in any folder; a workspace's own files come first.
//
// It holds files and knows nothing of what they mean. The command line is cmd/hexmage/cli.
package hexmage

import "embed"

// Shipped has the shipped pipelines, modules and op package, under the paths they have in this repository.
//
//go:embed pipelines/*.hcl modules/*/*.hcl modules/*/*.py modules/*/*.json oppackage/example/LLaMAPackage
var Shipped embed.FS
