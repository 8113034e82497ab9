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
	Names []string `arg:"" optional:"" help:"Print variables for all SDKs of one pipeline, or for these toolchains. Write NAME for the default release of a toolchain, or NAME@VERSION. Example: qairt@2.41.0.251128. Default: qairt, hexagon and ndk."`
	Shell string   `enum:"bash,zsh,sh,fish,json" default:"bash" placeholder:"SHELL" help:"Print commands for this shell: bash, zsh, sh or fish. --shell=json prints JSON. Default: bash."`
}

// Help returns the examples of `hexmage env --help`.
func (*envCmd) Help() string {
	return `The commands set the same variables as the SDKs' own setup scripts. hexmage downloads missing SDKs. You
can run hexmage env again in the same shell: PATH keeps one copy of each folder, and one release of each SDK.

Examples:

    eval "$(hexmage env qwen3-aot-v79)"                        set variables for all SDKs of a pipeline
    eval "$(hexmage env qairt@2.31.0.250130 hexagon)"          set variables for two toolchains
    hexmage env qairt --shell fish | source                    set variables in fish
    hexmage env qwen3-aot-v79 --json | jq -r .QAIRT_SDK_ROOT   print only the value of QAIRT_SDK_ROOT`
}

// Run fetches missing toolchains and prints shell commands for eval "$(hexmage env qwen3-aot-v79)".
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
			return usageError("env: pipeline %q already includes its toolchains; name only the pipeline", name)
		}
		p, err := a.plan(name, nil)
		if err != nil {
			return err
		}
		if p, err = oneRelease(p); err != nil {
			return err
		}
		return a.printEnv(ctx, p, c.Shell)
	}
	p, err := a.toolchainsOf(names)
	if err != nil {
		return err
	}
	return a.printEnv(ctx, p, c.Shell)
}

// toolchainsOf plans toolchains of the command line, one release each.
func (a *app) toolchainsOf(names []string) (*planned, error) {
	rs := rounds(wantedOf(names, ""), wantedName)
	if len(rs) > 1 {
		return nil, usageError("env: toolchain %s is named twice; name one release of each toolchain", rs[1][0].name)
	}
	return a.toolchainPlan(rs[0])
}

// oneRelease restricts a plan to one release of each toolchain: the pipeline's, else the release on which its modules
// agree.
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
			return nil, usageError("env: %s has release %s, but %s has release %s; choose one release, as in "+
				"`hexmage env %s@%s`",
				first.At, first.Version, n.At, n.Version, n.At.Name, n.Version)
		}
	}
	one, err := p.Select(steps...)
	if err != nil {
		return nil, engineError(err)
	}
	return one, nil
}

func (a *app) printEnv(ctx context.Context, p *planned, shell string) error {
	d, err := a.domain()
	if err != nil {
		return err
	}
	ls, err := a.fetch(ctx, p, false)
	if err != nil {
		return err
	}
	e := sdkenv.New(a.Env.Var)
	for _, l := range ls {
		t, r, err := d.catalog.Find(l.Name, l.Version)
		if is, bad := sdk.Identify(l.Path); err != nil && bad == nil {
			t, r, _, err = d.catalog.ReleaseOf(is, l.Path)
		}
		if err == nil { // a toolchain without a catalog entry sets nothing
			values, err := t.Env(r, l.Path)
			if err == nil {
				err = e.Add(l.Name, l.Path, values)
			}
			if err != nil {
				return usageError("%w", err)
			}
		}
		e.Set("HEXMAGE_TOOLCHAIN_"+variable(l.Name), l.Path)
		if l.Name == "llvm" {
			e.Set("HEXMAGE_LLVM", l.Path) // for the simulated SDKs' compiler wrappers outside actions
		}
	}
	if a.JSON || shell == "json" {
		vars := map[string]string{}
		for _, v := range e.Vars() {
			vars[v.Name] = v.Value
		}
		return writeJSON(a.Env.Stdout, vars)
	}
	isData(a.Env.Stdout)
	if err := sdkenv.Write(a.Env.Stdout, shell, e.Vars()); err != nil {
		return engineError(fmt.Errorf("env: %w", err))
	}
	return nil
}

// variable converts a toolchain's name for a variable's name.
func variable(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}
