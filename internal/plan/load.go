package plan

import (
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
)

// Load reads a pipeline and plans it; o.Config is filled in. The workspace is the folder o.Workspace, or a layered view
// of it. The skeleton is returned also when there are errors, with the files that diagnostics point at. To validate a
// pipeline is to load it and look at the diagnostics only.
func Load(workspace fs.FS, name string, o Options) (*Plan, *config.Pipeline, hcl.Diagnostics) {
	cfg, diags := config.Load(workspace, name)
	if diags.HasErrors() {
		return nil, cfg, diags
	}
	o.Config = cfg
	p, ds := Build(o)
	return p, cfg, append(diags, ds...)
}
