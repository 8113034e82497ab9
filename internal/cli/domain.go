package cli

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/step/kinds"
	"github.com/hexmage/hexmage/model/modelstep"
	"github.com/hexmage/hexmage/oppackage/opstep"
	"github.com/hexmage/hexmage/patches/patchstep"
	"github.com/hexmage/hexmage/runner/runstep"
	"github.com/hexmage/hexmage/toolchains"
)

// domain is what the engine is told of Qualcomm's world for one workspace.
type domain struct {
	kinds   map[string]step.Kind
	targets func(soc string) (cty.Value, hcl.Diagnostics)
}

// stepKinds is the table of kinds that need nothing of the workspace.
func stepKinds() map[string]step.Kind {
	t := map[string]step.Kind{
		"exec":      kinds.Exec{},
		"patch":     patchstep.Kind{},
		"oppackage": opstep.Package{},
		"makefile":  opstep.Makefile{},
	}
	maps.Copy(t, modelstep.Kinds())
	maps.Copy(t, runstep.Kinds())
	return t
}

// domain reads the workspace's part of it.
func (a *app) domain(workspace string) (*domain, error) {
	return &domain{kinds: stepKinds(), targets: toolchains.Targets}, nil
}
