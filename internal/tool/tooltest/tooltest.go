// Package tooltest runs built-in tools inside the test's process, in the same way as the command line does. It does not
// know the tools.
package tooltest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
)

// Run runs a tool with the arguments args and with environment variables of the form NAME=value. It returns the output
// and exit code of the tool.
func Run[S any](t testing.TB, name tool.Name[S], run func(context.Context, S, tool.Env) error, args S,
	vars ...string) (stdout, stderr string, code int) {
	t.Helper()
	b, err := tool.Encode(args)
	if err != nil {
		t.Fatal(err)
	}
	return Raw(t, tool.New(name, run), b, vars...)
}

// Raw runs a tool with arguments that are already encoded as a JSON document.
func Raw(t testing.TB, f tool.Func, args []byte, vars ...string) (stdout, stderr string, code int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), tool.ArgsFile)
	if err := os.WriteFile(file, args, 0o644); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	code = f(t.Context(), []string{file}, tool.Env{Vars: vars, Stdout: &out, Stderr: &said})
	return out.String(), said.String(), code
}
