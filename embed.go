// Package hexmage carries what the binary ships: pipelines, modules, the example op package and the first source of a
// new op. An installed hexmage so works in any folder; a workspace's own files come first.
//
// It holds files and knows nothing of what they mean. The command line is cmd/hexmage/cli.
package hexmage

import "embed"

// Shipped has the shipped pipelines, modules and op package, under the paths they have in this repository.
//
//go:embed pipelines/*.hcl modules/*/*.hcl modules/*/*/*.hcl modules/*/*.py modules/*/*.c oppackage/example/LLaMAPackage
var Shipped embed.FS

// Op is the source of an op, Clip, which `hexmage init --op NAME` starts an op of that name from.
//
//go:embed examples/oppackage-only/clip/src/ops/Clip.cpp
var Op string
