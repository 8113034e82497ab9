package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hexmage/hexmage/standin/phone"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Variables with which the engine tells its built-in tools about this machine.
const (
	envDownloads = "HEXMAGE_DOWNLOADS" // folder that keeps downloads, so that a killed run resumes
	envOffline   = "HEXMAGE_OFFLINE"   // "1": ask no network
	envMirrors   = "HEXMAGE_MIRRORS"   // also the user's own: what to ask in place of other addresses
	envNetrc     = "NETRC"             // likewise: file with logins of hosts
	envHome      = "HEXMAGE_USER_HOME" // the user's home, where the vendor's clients keep who is logged in
	envSearch    = "HEXMAGE_USER_PATH" // the user's PATH, for those clients
)

// private is what the tools that download are told and nobody else: the user's variables, among which are secrets, and
// where the user keeps logins and programs.
func (a *app) private() map[string]map[string]string {
	vars := map[string]string{}
	for name, from := range map[string]string{envMirrors: envMirrors, envHome: "HOME", envSearch: "PATH", envNetrc: envNetrc} {
		if v := a.env.Var(from); v != "" {
			vars[name] = v
		}
	}
	if home := a.env.Var("HOME"); home != "" && vars[envNetrc] == "" {
		vars[envNetrc] = filepath.Join(home, ".netrc")
	}
	private := maps.Clone(vars)
	for name, v := range a.envVars() {
		vars[sources.SecretPrefix+name] = v
	}
	for name, v := range a.Set {
		vars[sources.SecretPrefix+name] = v
	}
	return map[string]map[string]string{sources.Name: vars, git.Name: private}
}

// tools is the table of built-in tools, by the name that follows `hexmage tool`.
func tools() map[string]steps.Tool {
	t := steps.Tools()
	t["emulator-init"] = emulatorInit
	return t
}

// runTool is `hexmage tool NAME ARG…`: what the executor calls for an action of a built-in tool.
func runTool(args []string, env Env) int {
	all := tools()
	if len(args) == 0 || all[args[0]] == nil {
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(env.Stderr, "hexmage tool: want the name of a built-in tool: %s\n", strings.Join(names, ", "))
		return ExitUsage
	}
	ctx, stop := newInterrupts(nil).watch(context.Background())
	defer stop()
	if args[0] == sources.Name {
		ctx = sources.WithEnviron(ctx, env.Vars)
	}
	return all[args[0]](ctx, append(args[1:], machineFlags(args[0], env)...), env.Stdin, env.Stdout, env.Stderr)
}

// machineFlags are flags that a tool gets from this machine rather than from the action: they are in no key, since they
// change nothing of what the tool makes.
func machineFlags(name string, env Env) []string {
	if name != sources.Name && name != git.Name {
		return nil
	}
	var flags []string
	if dir := env.Var(envDownloads); dir != "" {
		flags = append(flags, "--downloads", dir)
	}
	if env.Var(envOffline) == "1" {
		flags = append(flags, "--offline")
	}
	for _, f := range []struct {
		flag, env string
		fetchOnly bool
	}{{"--mirrors", envMirrors, false}, {"--netrc", envNetrc, false}, {"--home", envHome, true}, {"--search", envSearch, true}} {
		if v := env.Var(f.env); v != "" && (name == sources.Name || !f.fetchOnly) {
			flags = append(flags, f.flag, v)
		}
	}
	return flags
}

// emulatorInit is the first process of an emulated device; package emulator starts it in namespaces of its own.
func emulatorInit(_ context.Context, _ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := phone.Init(stdin, stdout, os.NewFile(3, "listener")) // returns only when it fails
	fmt.Fprintln(stderr, "emulator:", err)
	return 1
}
