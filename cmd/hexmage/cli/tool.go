package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// private returns data for tools that download, and for no other: the user's variables, which include secrets, and the
// places of logins and programs.
func (a *app) private() map[string]map[string]string {
	vars := map[string]string{}
	for name, v := range map[string]string{fetch.EnvMirrors: a.Env.Var(fetch.EnvMirrors),
		sources.EnvHome: a.Env.Var("HOME"), sources.EnvSearch: a.Env.Var("PATH"), fetch.EnvNetrc: a.netrc()} {
		if v != "" {
			vars[name] = v
		}
	}
	private := maps.Clone(vars)
	for _, name := range sources.Variables(a.Env.Var("HOME")) {
		if v := a.Env.Var(name); v != "" {
			vars[name] = v
		}
	}
	for name, v := range a.envVars() {
		vars[sources.SecretPrefix+name] = v
	}
	for name, v := range a.Set {
		vars[sources.SecretPrefix+name] = v
	}
	return map[string]map[string]string{sources.Tool.String(): vars, git.Tool.String(): private}
}

// netrc returns the file with the user's logins, or "".
func (a *app) netrc() string {
	home := a.Env.Var("HOME")
	return cmp.Or(a.Env.Var(fetch.EnvNetrc), also(home != "", filepath.Join(home, ".netrc")))
}

// tools returns the built-in tools by name, the argument of `hexmage tool`.
func tools() map[string]tool.Func {
	t := steps.Tools()
	t["phone-init"] = phoneInit
	t[worker.Tool] = runWorker
	return t
}

// runWorker runs commands for the hexmage process that started it.
func runWorker(_ context.Context, args []string, _ tool.Env) int {
	if len(args) != 1 {
		return ExitUsage
	}
	worker.Main(args[0], store.MayBeLink)
	return ExitOK
}

// runTool is `hexmage tool NAME ARG…`, which executors call for actions of a built-in tool.
func runTool(args []string, env Env) int {
	all := tools()
	if len(args) == 0 || all[args[0]] == nil {
		fmt.Fprintf(env.Stderr, "hexmage tool: missing name of a built-in tool. Available: %s\n",
			strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		return ExitUsage
	}
	ctx, stop := newInterrupts(nil).watch(context.Background())
	defer stop()
	return all[args[0]](ctx, args[1:],
		tool.Env{Vars: env.Vars, Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr})
}

// phoneInit is the first process of a simulated device. Package phone starts it in new namespaces.
func phoneInit(_ context.Context, _ []string, env tool.Env) int {
	err := phone.Init(env.Stdin, env.Stdout, os.NewFile(3, "listener")) // returns only on an error
	fmt.Fprintln(env.Stderr, "simulated phone:", err)
	return 1
}
