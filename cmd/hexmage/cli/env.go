package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/sdkenv"
)

// envCmd is `hexmage env [PIPELINE | TOOLCHAIN[@VERSION]…]`.
type envCmd struct {
	Names []string `arg:"" optional:"" help:"A pipeline (all its toolchains), or toolchains of the catalogue, NAME or NAME@VERSION. Default: qairt, hexagon and ndk."`
	Shell string   `enum:"bash,zsh,sh,fish,json" default:"bash" placeholder:"SHELL" help:"Write for bash, zsh, sh, fish, or as json. Default: bash."`
}

// Help has the examples of `hexmage env --help`.
func (*envCmd) Help() string {
	return `It sets what the SDKs' own scripts set, and fetches what is not here yet. Twice is once, and the folders of another
release give way.

Examples:

    eval "$(hexmage env qwen3-aot-v79)"                then: make -C out/qwen3-aot-v79/makefile htp_v79
    eval "$(hexmage env qairt@2.31.0.250130 hexagon)"  toolchains instead of a pipeline
    hexmage env qairt --shell fish | source
    hexmage env qwen3-aot-v79 --json | jq -r .QAIRT_SDK_ROOT`
}

// Run fetches the toolchains if they are not there yet, and prints lines for a shell: eval "$(hexmage env
// qwen3-aot-v79)".
func (c *envCmd) Run(ctx context.Context, a *app) error {
	names := c.Names
	if len(names) == 0 {
		names = []string{"qairt", "hexagon", "ndk"}
	}
	for _, name := range names {
		if !slices.Contains(a.pipelines(), name) {
			continue
		}
		if len(names) > 1 {
			return usageError("env: %q is a pipeline, and stands for all its toolchains: name it alone", name)
		}
		p, workspace, err := a.plan(name, nil)
		if err != nil {
			return err
		}
		if p, err = oneRelease(p); err != nil {
			return err
		}
		return a.printEnv(ctx, p, workspace, c.Shell)
	}
	p, err := a.toolchainsOf(names)
	if err != nil {
		return err
	}
	return a.printEnv(ctx, p, a.here(), c.Shell)
}

// toolchainsOf plans toolchains of the command line, each in one release.
func (a *app) toolchainsOf(names []string) (*planned, error) {
	rs := rounds(wantedOf(names, ""), wantedName)
	if len(rs) > 1 {
		return nil, usageError("env: %s is there twice: an environment has one release of a toolchain", rs[1][0].name)
	}
	return a.toolchainPlan(rs[0])
}

// oneRelease restricts a plan to one release of each toolchain: the pipeline's own, else the one that its modules
// agree on.
func oneRelease(p *planned) (*planned, error) {
	instances := toolchainInstances(p.Plan)
	slices.SortStableFunc(instances,
		func(a, b *plan.Instance) int { return cmp.Compare(len(a.At.Module), len(b.At.Module)) })
	chosen := map[string]*plan.Instance{}
	var steps []addrs.Step
	for _, n := range instances {
		first := chosen[n.At.Name]
		if first == nil {
			chosen[n.At.Name], steps = n, append(steps, n.At.Step)
		} else if first.At.Module != "" && first.Version != n.Version {
			return nil, usageError("env: %s is %s, and %s is %s: an environment has one release of a toolchain. "+
				"Declare it in the pipeline, or name releases: hexmage env %s@%s",
				first.At, first.Version, n.At, n.Version, n.At.Name, n.Version)
		}
	}
	one, err := p.Select(steps...)
	if err != nil {
		return nil, engineError(err)
	}
	return one, nil
}

func (a *app) printEnv(ctx context.Context, p *planned, workspace, shell string) error {
	d, err := a.domain(workspace)
	if err != nil {
		return err
	}
	ls, err := a.fetch(ctx, p, workspace, false)
	if err != nil {
		return err
	}
	e := sdkenv.New(a.Env.Var)
	for _, l := range ls {
		t, r, err := d.catalogue().Find(l.Name, l.Version)
		if is, bad := sdk.Identify(l.Path); err != nil && bad == nil {
			t, r, _, err = d.catalogue().ReleaseOf(is, l.Path)
		}
		if err == nil { // one that only the pipeline knows sets nothing
			values, err := t.Env(r, l.Path)
			if err == nil {
				err = e.Add(l.Name, l.Path, values)
			}
			if err != nil {
				return &exitError{Code: ExitUsage, Err: err}
			}
		}
		e.Set("HEXMAGE_TOOLCHAIN_"+variable(l.Name), l.Path)
		if l.Name == "llvm" {
			e.Set("HEXMAGE_LLVM", l.Path) // where the simulations' compiler wrappers look, outside of an action
		}
	}
	if a.JSON || shell == "json" {
		vars := map[string]string{}
		for _, v := range e.Vars() {
			vars[v.Name] = v.Value
		}
		return a.printJSON(vars)
	}
	isData(a.Env.Stdout)
	if err := sdkenv.Write(a.Env.Stdout, shell, e.Vars()); err != nil {
		return engineError(fmt.Errorf("env: %w", err))
	}
	return nil
}

// variable makes a toolchain's name part of a variable's.
func variable(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}
