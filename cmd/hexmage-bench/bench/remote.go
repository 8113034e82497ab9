package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hexmage/hexmage/internal/remote/far"
)

// Bazel and the server are in no catalogue that is shipped: they have one here.
//
//go:embed peers
var peers embed.FS

// Tools beside hexmage that take results from a remote cache.
const (
	bazel     = "Bazel"            // its server was started before, and has loaded nothing yet
	bazelCold = "Bazel, no server" // it has to start that
	bazelMany = "Bazel, 64 jobs"   // as bazel, with many more jobs than processors: so many lookups at once
)

// What is measured of a remote cache.
const (
	Alone   Scenario = "no remote"
	Sent    Scenario = "all built and sent"
	Fetched Scenario = "all fetched"
	Farther Scenario = "all fetched, 50 ms away"
)

// away is how long what is sent takes to arrive where the server is far: a round trip is 50 ms.
const away = 25 * time.Millisecond

// remoteLimit is hexmage's time over that of Bazel in the form in which it is fastest, of all fetched.
const remoteLimit = 0.5

// RemoteResult is what was measured with a remote cache.
type RemoteResult struct {
	Actions  int
	Series   []*Series
	Bytes    map[string][2]int64 // by tool: they went to the server and from it, of all fetched
	Problems []string
}

// remoteRun is the measuring with a remote cache.
type remoteRun struct {
	Options
	Graph
	dir    string
	made   int    // folders, so far
	server string // address of the server that runs
	res    *RemoteResult
}

// measureRemote has one cache build the graph and send all to a server, and empty ones fetch it from there.
func measureRemote(ctx context.Context, o Options, g Graph, programs, dir string) (*RemoteResult, error) {
	r := &remoteRun{Options: o, Graph: g, dir: dir, res: &RemoteResult{Actions: len(g.Nodes), Bytes: map[string][2]int64{}}}
	defer remove(dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	for _, ws := range []string{r.workspace(shipped), r.workspace(bazel)} {
		if err := g.write(programs, ws); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{"WORKSPACE": "", "BUILD": g.bazel()} {
		if err := os.WriteFile(filepath.Join(r.workspace(bazel), name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	time.Sleep(o.Age)
	for n := range o.Repeat {
		begin := time.Now()
		sides := [][]string{{shipped}, {bazel, bazelCold, bazelMany}}
		for i := range sides {
			if err := r.withServer(ctx, sides[(i+n)%len(sides)], n == 0); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(o.Log, "  round %d: %.1f s\n", n+1, time.Since(begin).Seconds())
	}
	return r.res, nil
}

func (r *remoteRun) workspace(tool string) string { return filepath.Join(r.dir, strings.ToLower(tool)) }

// fresh is the path of a folder that is not there yet.
func (r *remoteRun) fresh() string {
	r.made++
	return filepath.Join(r.dir, strconv.Itoa(r.made))
}

// withServer measures tools of one kind, the first of which fills an empty server. What takes long, or is the same
// every time, is only done for all.
func (r *remoteRun) withServer(ctx context.Context, tools []string, all bool) error {
	first := tools[0]
	if all {
		if err := r.measure(ctx, Alone, first, "", false); err != nil {
			return err
		}
	}
	stop, err := r.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := r.measure(ctx, Sent, first, r.server, true); err != nil {
		return err
	}
	want, err := hashFolder(r.outputs(first))
	if err != nil {
		return err
	}
	for _, tool := range tools {
		if err := r.measure(ctx, Fetched, tool, r.server, false); err != nil {
			return err
		}
		if got, err := hashFolder(r.outputs(first)); got != want {
			r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s: what was fetched is not what was sent: %s, %s, %v", tool, got, want, err))
		}
	}
	if !all {
		return nil
	}
	link, err := far.NewLink(r.server, away)
	if err != nil {
		return err
	}
	defer link.Close()
	for _, tool := range tools {
		if tool == bazel || tool == bazelCold { // a lookup after the other: two minutes
			continue
		}
		if err := r.measure(ctx, Farther, tool, link.Address(), false); err != nil {
			return err
		}
	}
	near, err := far.NewLink(r.server, 0)
	if err != nil {
		return err
	}
	defer near.Close()
	if err := r.count(ctx, first, near.Address()); err != nil {
		return err
	}
	up, down := near.Bytes()
	r.res.Bytes[first] = [2]int64{up, down}
	return nil
}

// outputs is where a tool has its outputs.
func (r *remoteRun) outputs(tool string) string {
	if tool == shipped {
		return filepath.Join(r.workspace(shipped), "out", "graph")
	}
	return filepath.Join(r.workspace(bazel), "bazel-bin", "out")
}

// aside takes a folder away without freeing an inode, as graphRun.aside does.
func (r *remoteRun) aside(path string) error {
	err := os.Rename(path, r.fresh())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// serve starts an empty server.
func (r *remoteRun) serve(ctx context.Context) (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.server = l.Addr().String()
	l.Close()
	cmd := exec.CommandContext(ctx, r.Casd, "--bind="+r.server, "--log-level=error", "--reserved=1M", r.fresh())
	cmd.Stderr = r.Log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for range 200 {
		if conn, err := net.Dial("tcp", r.server); err == nil {
			conn.Close()
			return stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, errors.New("casd does not listen")
}

// prepare returns the program that builds all with an empty cache, and what ends what it leaves.
func (r *remoteRun) prepare(ctx context.Context, tool, server string, send bool) (p program, end func(), err error) {
	if tool == shipped {
		ws := r.workspace(shipped)
		p = program{argv: []string{r.Hexmage, "run", "graph", "-j" + strconv.Itoa(r.Jobs)}, dir: ws, env: append(environment(ws), "HEXMAGE_CACHE="+r.fresh())}
		config := filepath.Join(ws, ".config", "hexmage", "config.hcl")
		text := ""
		if server != "" {
			text = fmt.Sprintf("remote \"bench\" {\n  cache       = \"grpc://%s\"\n  upload      = %q\n  upload_wait = \"5m\"\n}\n", server, map[bool]string{true: "always", false: "never"}[send])
		}
		err = errors.Join(os.MkdirAll(filepath.Dir(config), 0o755), os.WriteFile(config, []byte(text), 0o644), r.aside(filepath.Join(ws, "out")))
		return p, func() {}, err
	}
	ws := r.workspace(bazel)
	base := []string{filepath.Join(r.Bazel, "usr/bin/bazel-4"), "--nosystem_rc", "--nohome_rc", "--install_base=" + filepath.Join(r.Bazel, "usr/share/bazel"), "--trust_install_base",
		"--server_javabase=" + filepath.Join(r.Bazel, "usr/lib/jvm/java-17-openjdk-amd64"), "--output_user_root=" + r.fresh()}
	run := func(argv ...string) program {
		return program{argv: append(base[:len(base):len(base)], argv...), dir: ws, env: append(environment(ws), "LD_LIBRARY_PATH="+filepath.Join(r.Bazel, "usr/lib/x86_64-linux-gnu"))}
	}
	argv := []string{"build", "//:outputs", "--noshow_progress"}
	if server != "" {
		argv = append(argv, "--remote_cache=grpc://"+server, "--remote_upload_local_results="+strconv.FormatBool(send), "--remote_download_toplevel")
	}
	switch tool {
	case bazelMany:
		argv = append(argv, "--jobs=64")
	default:
		argv = append(argv, "--jobs="+strconv.Itoa(r.Jobs))
	}
	if tool != bazelCold {
		_, err = run("info").measure(ctx)
	}
	return run(argv...), func() { _, _ = run("shutdown").measure(ctx) }, err
}

func (r *remoteRun) measure(ctx context.Context, s Scenario, tool, server string, send bool) error {
	p, end, err := r.prepare(ctx, tool, server, send)
	defer end()
	if err != nil {
		return err
	}
	shrink()
	settle()
	x, err := p.measure(ctx)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", s, tool, err)
	}
	r.res.add(s, tool, x)
	return nil
}

// count has the tool fetch all once more, and looks that it executes nothing.
func (r *remoteRun) count(ctx context.Context, tool, server string) error {
	p, end, err := r.prepare(ctx, tool, server, false)
	defer end()
	if err != nil {
		return err
	}
	out, err := p.command(ctx).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", tool, err, out)
	}
	hits := regexp.MustCompile(`(\d+) remote cache hit| 0 executed (\d+) cached`).FindStringSubmatch(strings.ReplaceAll(string(out), ",", ""))
	if hits == nil || hits[1]+hits[2] != strconv.Itoa(r.res.Actions) {
		r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s: not all was fetched: it said %s", tool, out))
	}
	return nil
}

// bazel is a BUILD file.
func (g Graph) bazel() string {
	var b strings.Builder
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "genrule(name = \"a%d\", outs = [%q], srcs = [\"%s\"], tools = [\"tools/%[4]s\"], cmd = \"$(location tools/%[4]s) $@ $(SRCS)\")\n", i, n.Out, strings.Join(n.In, `", "`), g.Program)
	}
	fmt.Fprintf(&b, "filegroup(name = \"outputs\", srcs = [\"%s\"])\n", strings.Join(g.outputs(), `", "`))
	return b.String()
}

func (r *RemoteResult) find(s Scenario, tool string) *Series {
	for _, x := range r.Series {
		if x.Scenario == s && x.Tool == tool {
			return x
		}
	}
	return nil
}

func (r *RemoteResult) add(s Scenario, tool string, x Sample) {
	have := r.find(s, tool)
	if have == nil {
		have = &Series{Scenario: s, Tool: tool}
		r.Series = append(r.Series, have)
	}
	have.Samples = append(have.Samples, x)
}

func (r *RemoteResult) markdown(b *strings.Builder) {
	tools := []string{shipped, bazel, bazelCold, bazelMany}
	fmt.Fprintf(b, "\n**remote %d**: %[1]d actions and an empty cache, all of whose results are at a server on this machine\n\n| | %s |", r.Actions, strings.Join(tools, " | "))
	for _, t := range tools[1:] {
		fmt.Fprintf(b, " × %s |", t)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---:|", 2*len(tools)-1))
	for _, s := range []Scenario{Alone, Sent, Fetched, Farther} {
		fmt.Fprintf(b, "| %s (%d) |", s, len(r.find(s, shipped).Samples))
		for _, t := range tools {
			fmt.Fprintf(b, " %s |", cell(r.find(s, t), wall))
		}
		for _, t := range tools[1:] {
			text := "–"
			if v, ok := r.ratio(s, t); ok {
				text = fmt.Sprintf("%.2f", v)
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	for _, t := range []string{shipped, bazel} {
		m := r.Bytes[t]
		fmt.Fprintf(b, "\nMoved by %s, all fetched: %s to the server, %s from it.", t, megabytes(float64(m[0])), megabytes(float64(m[1])))
	}
	b.WriteString("\n")
}

// ratio is hexmage's time over that of the tool.
func (r *RemoteResult) ratio(s Scenario, tool string) (float64, bool) {
	x, y := r.find(s, shipped), r.find(s, tool)
	if x == nil || y == nil {
		return 0, false
	}
	all := ratios(x, y, wall)
	return median(all), len(all) > 0
}

func (r *RemoteResult) budgets() []Budget {
	var all []Budget
	for _, s := range []Scenario{Fetched, Farther} {
		if v, ok := r.ratio(s, bazelMany); ok {
			all = append(all, budget(fmt.Sprintf("remote %d, %s: hexmage / %s", r.Actions, s, bazelMany), v, remoteLimit, times))
		}
	}
	return append(all, budget(fmt.Sprintf("remote %d: wrong outputs, and actions run for nothing", r.Actions), float64(len(r.Problems)), 0, func(v float64) string { return fmt.Sprintf("%.0f", v) }))
}
