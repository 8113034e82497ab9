package cli_test

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
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

// A hexmage of a script that goes on for so long, on however busy a machine, will never end. It says what it waits
// for: the time limit of the tests would end it without a word.
const (
	stuck     = 3 * time.Minute
	stuckCode = 99
)

func TestScript(t *testing.T) {
	// as nohup has it; what a script starts is to have it as a terminal does, unless the script says so
	if signal.Ignored(syscall.SIGHUP) {
		hung := make(chan os.Signal, 1)
		signal.Notify(hung, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(hung) })
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HEXMAGE_CACHE", filepath.Join(e.WorkDir, ".cache"))
			e.Values["t"] = e.T().(testing.TB)
			e.Values["values"] = e.Values
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"downloads": downloads, "llvm": llvm,
			"phone": attachPhone, "gitserver": gitServer, "hffolder": hfFolder, "onnxgraph": onnxGraph},
	})
}

// downloads is a command of scripts: the packages of real tools are in the cache, as if they had been downloaded.
func downloads(ts *testscript.TestScript, _ bool, _ []string) {
	t := ts.Value("t").(testing.TB)
	ts.Check(os.CopyFS(filepath.Join(ts.Getenv("HEXMAGE_CACHE"), "v3", "downloads"),
		os.DirFS(toolchaintest.Downloads(t))))
}

// onnxGraph is a command of scripts: `onnxgraph FILE INPUT DIM…` writes an ONNX model with one node and one float32
// input. A DIM is a number, or the name of an open dimension.
func onnxGraph(ts *testscript.TestScript, _ bool, args []string) {
	field := func(to []byte, n protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), value)
	}
	number := func(to []byte, n protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, n, protowire.VarintType), value)
	}
	var shape []byte
	for _, dim := range args[2:] {
		if n, err := strconv.ParseUint(dim, 10, 63); err == nil {
			shape = field(shape, 1, number(nil, 1, n))
		} else {
			shape = field(shape, 1, field(nil, 2, []byte(dim)))
		}
	}
	value := func(name string) []byte {
		return field(field(nil, 1, []byte(name)), 2, field(nil, 1, field(number(nil, 1, 1), 2, shape)))
	}
	node := field(field(field(nil, 1, []byte(args[1])), 2, []byte("y")), 4, []byte("Relu"))
	graph := field(field(field(field(nil, 1, node), 2, []byte("net")), 11, value(args[1])), 12, value("y"))
	model := field(field(number(nil, 1, 9), 7, graph), 8, number(nil, 2, 17))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), model, 0o644))
}

// gitServer is a command of scripts: git's own HTTP server for the repositories below srv, at $GITSERVER; with "stop"
// it goes away.
func gitServer(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) > 0 {
		ts.Value("gitserver").(*httptest.Server).Close()
		return
	}
	t := ts.Value("t").(testing.TB)
	path, err := exec.Command("git", "--exec-path").Output()
	ts.Check(err)
	dir := ts.MkAbs("srv")
	h := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"}}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	ts.Setenv("GITSERVER", srv.URL)
	ts.Value("values").(map[any]any)["gitserver"] = srv
}

// llvm is a command of scripts: the compilers are installed, and in the search path.
func llvm(ts *testscript.TestScript, _ bool, _ []string) {
	bin := filepath.Join(toolchaintest.Root(ts.Value("t").(testing.TB), "llvm"), "usr", "bin")
	ts.Setenv("PATH", bin+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// attachPhone is a command of scripts: a simulated phone is attached to the user's adb server, and the packages of
// adb are in the cache.
func attachPhone(ts *testscript.TestScript, neg bool, args []string) {
	t := ts.Value("t").(testing.TB)
	self, err := os.Executable()
	ts.Check(err)
	e, server := phonetest.Start(t,
		phonetest.Image(t, nil), func(o *phone.Options) { o.Self = []string{self, "tool", "phone-init"} }),
		phonetest.Server(t)
	ts.Check(server.Connect(t.Context(), e.Addr()))
	ts.Setenv("ADB_SERVER_SOCKET", "localfilesystem:"+server.Address())
	downloads(ts, neg, args)
}
