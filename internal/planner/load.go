// Package planner makes plans: from a pipeline's skeleton, its kinds and the values of its variables it decides what has
// to be done.
//
// Build is where HCL ends: it checks every reference before it evaluates anything, expands for_each, decodes each step's
// arguments, and asks the step's kind for Specs. Load is Build for a pipeline that is not read yet. What comes out is a
// plan.Plan, which knows no HCL. The package runs nothing, hashes nothing and does not know what carries a plan out, nor
// whether a result is cached.
package planner

import (
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
)

// Load reads a pipeline and plans it; o.Config is filled in. The workspace is the folder o.Workspace, or a layered view
// of it. The skeleton is returned also when there are errors, with the files that diagnostics point at. To validate a
// pipeline is to load it and look at the diagnostics only.
func Load(workspace fs.FS, name string, o Options) (*plan.Plan, *config.Pipeline, hcl.Diagnostics) {
	cfg, diags := config.Load(workspace, name)
	if diags.HasErrors() {
		return nil, cfg, diags
	}
	o.Config = cfg
	p, ds := Build(o)
	return p, cfg, append(diags, ds...)
}
