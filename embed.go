// Package hexmage embeds the files that the binary ships: pipelines, modules, the example op package and the first
// source of a new op.
//
// So an installed hexmage works in any folder. A workspace's own files take precedence. The package does not interpret
// the files. The command line is cmd/hexmage/cli.
package hexmage

import "embed"

// Shipped contains the shipped pipelines, modules and op package, under their paths in this repository.
//
//go:embed pipelines/*.hcl modules/*/*.hcl modules/*/*/*.hcl modules/*/*.py modules/*/*.c oppackage/example/LLaMAPackage
var Shipped embed.FS

// Op is the source of the op Clip. `hexmage init --op NAME` derives a new op from it.
//
//go:embed examples/oppackage-only/clip/src/ops/Clip.cpp
var Op string
