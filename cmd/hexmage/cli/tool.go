package cli

import (
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

// private is what the tools that download are told and nobody else: the user's variables, among which are secrets,
// and where the user keeps logins and programs.
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

// netrc is the file with the user's logins of hosts, "" for none.
func (a *app) netrc() string {
	name, home := a.Env.Var(fetch.EnvNetrc), a.Env.Var("HOME")
	if name == "" && home != "" {
		name = filepath.Join(home, ".netrc")
	}
	return name
}

// tools is the table of built-in tools, by the name that follows `hexmage tool`.
func tools() map[string]tool.Func {
	t := steps.Tools()
	t["phone-init"] = phoneInit
	t[worker.Tool] = runWorker
	return t
}

// runWorker is a process that runs commands for the hexmage that started it.
func runWorker(_ context.Context, args []string, _ tool.Env) int {
	if len(args) != 1 {
		return ExitUsage
	}
	worker.Main(args[0], store.MayBeLink)
	return ExitOK
}

// runTool is `hexmage tool NAME ARG…`: what the executor calls for an action of a built-in tool.
func runTool(args []string, env Env) int {
	all := tools()
	if len(args) == 0 || all[args[0]] == nil {
		fmt.Fprintf(env.Stderr, "hexmage tool: want the name of a built-in tool: %s\n",
			strings.Join(slices.Sorted(maps.Keys(all)), ", "))
		return ExitUsage
	}
	ctx, stop := newInterrupts(nil).watch(context.Background())
	defer stop()
	return all[args[0]](ctx, args[1:],
		tool.Env{Vars: env.Vars, Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr})
}

// phoneInit is the first process of a simulated device; package phone starts it in namespaces of its own.
func phoneInit(_ context.Context, _ []string, env tool.Env) int {
	err := phone.Init(env.Stdin, env.Stdout, os.NewFile(3, "listener")) // returns only when it fails
	fmt.Fprintln(env.Stderr, "simulated phone:", err)
	return 1
}
