package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hexmage/hexmage/internal/cli"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "tool" { // the test binary runs again as a built-in tool
		os.Exit(cli.Main(os.Args, cli.System()))
	}
	testscript.Main(m, map[string]func(){
		"hexmage": func() { os.Exit(cli.Main(os.Args, cli.System())) },
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HEXMAGE_CACHE", filepath.Join(e.WorkDir, ".cache"))
			return nil
		},
		Condition: nil,
	})
}
