package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	model "github.com/hexmage/hexmage/model/tools"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/runner/emulator"
	"github.com/hexmage/hexmage/runner/runtool"
	"github.com/hexmage/hexmage/toolchains/fetchtool"
)

// tool is one of hexmage's own programs that actions run. It works on relative paths in its working directory.
type tool func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// tools is the table of built-in tools, by the name that follows `hexmage tool`.
func tools() map[string]tool {
	t := map[string]tool{
		"fetch":            fetchtool.Run,
		patches.ToolName:   patches.Run,
		oppackage.ToolName: oppackage.Run,
		"emulator-image":   runtool.Image,
		"emulator-init":    emulatorInit,
		"metrics":          runtool.Metrics,
	}
	for _, m := range model.All() {
		t[m.Name] = m.Run
	}
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
	ctx, stop := toolContext(env)
	defer stop()
	return all[args[0]](ctx, args[1:], env.Stdin, env.Stdout, env.Stderr)
}

// emulatorInit is the first process of an emulated device; package emulator starts it in namespaces of its own.
func emulatorInit(_ context.Context, _ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := emulator.Init(stdin, stdout, os.NewFile(3, "listener")); err != nil {
		fmt.Fprintln(stderr, "emulator:", err)
		return 1
	}
	return 0
}
