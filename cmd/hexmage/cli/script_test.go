package cli_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "tool" { // the test binary runs again as a built-in tool
		os.Exit(cli.Main(os.Args, cli.System()))
	}
	testscript.Main(m, map[string]func(){
		"hexmage": func() {
			time.AfterFunc(stuck, func() {
				_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
				os.Exit(stuckCode)
			})
			os.Exit(cli.Main(os.Args, cli.System()))
		},
	})
}

// A hexmage of a script that goes on for so long, on however busy a machine, will never end. It says what it waits for: the
// time limit of the tests would end it without a word.
const (
	stuck     = 3 * time.Minute
	stuckCode = 99
)

func TestScript(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // as nohup has it; what a script starts is to have it as a terminal does, unless the script says so
		hung := make(chan os.Signal, 1)
		signal.Notify(hung, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(hung) })
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HEXMAGE_CACHE", filepath.Join(e.WorkDir, ".cache"))
			return nil
		},
		Condition: nil,
	})
}
