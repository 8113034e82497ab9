//go:build linux

package remote_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// startWorkers is a casd that runs actions, each in a bubblewrap of its own.
func startWorkers(t *testing.T) *casd {
	t.Helper()
	c := newCasd(t)
	c.path = filepath.Dir(bubblewrap(t)) + ":" + filepath.Dir(c.program) + ":/usr/bin:/bin"
	c.more = []string{"--jobs=4", "--buildbox-run=" + filepath.Join(filepath.Dir(c.program), "buildbox-run")}
	for _, arg := range baseSystem() {
		c.more = append(c.more, "--runner-arg="+arg)
	}
	c.start(t)
	return c
}

// bubblewrap is where bwrap is. Where it cannot run the test is skipped.
func bubblewrap(t *testing.T) string {
	t.Helper()
	bwrap := toolchaintest.Path(t, "bubblewrap", "usr/bin/bwrap")
	if out, err := exec.Command(bwrap, "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: bubblewrap cannot run here: %v: %s", err, out)
	}
	return bwrap
}

// baseSystem are buildbox-run's arguments with which actions see the base system of this machine, as those in our own
// sandbox do.
func baseSystem() (args []string) {
	for _, p := range []string{"/usr", "/bin", "/lib", "/lib64"} {
		if from, err := filepath.EvalSymlinks(p); err == nil {
			args = append(args, "--ro-bind-mount="+from+":"+p)
		}
	}
	return args
}

const executes = `execute = true`

// TestRemoteExecutor: what local executors do for actions is done for those at casd, too.
func TestRemoteExecutor(t *testing.T) {
	c := startWorkers(t)
	executetest.Run(t, "*remote.Executor", func(t *testing.T) executetest.Setup {
		return remoteSetup(t, remote.Options{Address: "grpc://" + c.address})
	})
}

var ranThere = regexp.MustCompile(`actions on remote team: (\d+); on this machine: (\d+)`)

// counted is how many actions ran at the remote, and here.
func counted(t *testing.T, o *Outcome) (there, here int) {
	t.Helper()
	m := ranThere.FindStringSubmatch(o.Stderr)
	if m == nil {
		t.Fatalf("it does not say how many actions ran where: %s", o)
	}
	there, _ = strconv.Atoi(m[1])
	here, _ = strconv.Atoi(m[2])
	return there, here
}

// TestRemoteExecution: the op package and the makefile that were compiled elsewhere are those that are compiled here,
// byte by byte; and so is all that a pipeline makes.
func TestRemoteExecution(t *testing.T) {
	c := startWorkers(t)
	one, first := FirstRun(t)
	two := NewWorld(t).WithDownloads(t)
	share(t, two, c.address, executes)
	r := two.RunJSON(t, Simulated, Pipeline)
	there, here := counted(t, r.Outcome)
	t.Logf("the first machine took %v, the second %v: %s", first.Took, r.Took, ranThere.FindString(r.Stderr))
	// one is the simulated phone's
	if there < 30 || there+here+1 != r.Executed || strings.Contains(r.Stderr, "could not run") {
		t.Errorf("%d actions ran there, and %d here, of %d: %s", there, here, r.Executed, r.Stderr)
	}
	// the rest is of two runs on a device
	for _, out := range []string{"oppackage", "makefile", "model.mllm", "context.bin"} {
		sameOut(t, one, two, filepath.Join(Pipeline, out))
	}
	if again := two.RunJSON(t, Simulated, Pipeline); again.Executed != 0 {
		t.Errorf("again it executed %q", again.Names)
	}
}

// farPipeline has what actions can have, of a toolchain that travels.
const farPipeline = `toolchain "busybox" {}
locals { sh = ["${toolchain.busybox.dir}/bin/busybox", "sh", "-ec"] }
step "exec" "large" {
  argv = concat(local.sh, ["seq 1 3000000 > large; sleep 1; echo made it; echo and said so >&2"])
  output "large" { file = "large" }
}
step "exec" "tree" {
  argv = concat(local.sh, ["mkdir -p d/e/empty; for i in $(seq 1 40); do echo $i > d/e/$i; done; chmod 755 d/e/7; ln -s e/7 d/link; ln -s d/e/8 linked; echo $PWD | sed s,$HEXMAGE_ROOT,root, > where; test -d \"$HOME\" -a -d \"$TMPDIR\""])
  output "d" { tree = "d" }
  output "linked" { file = "linked" }
  output "where" { value = "where" }
}
step "exec" "count" {
  argv   = concat(local.sh, ["cat - $1/link extra | cksum > n", "count", step.exec.tree.outputs.d])
  stdin  = step.exec.large.outputs.large
  inputs = ["extra"]
  output "n" { value = "n" }
}
output "large" { value = step.exec.large.outputs.large }
output "d" { value = step.exec.tree.outputs.d }
output "linked" { value = step.exec.tree.outputs.linked }
output "where" { value = step.exec.tree.outputs.where }
output "n" { value = step.exec.count.outputs.n }
`

func farWorld(t *testing.T) *World {
	t.Helper()
	w := NewWorld(t).WithDownloads(t)
	w.Env = []string{"HEXMAGE_DIGEST=sha256"}
	w.Write(t, "pipelines/p.hcl", farPipeline)
	w.Write(t, "extra", "extra\n")
	return w
}

// TestRemoteExecutionKilled: casd is killed with -9 while it runs actions, and comes back or does not. Outputs are
// right, and there is one sentence about it.
func TestRemoteExecutionKilled(t *testing.T) {
	c := startWorkers(t)
	one := farWorld(t)
	one.RunJSON(t, "p")
	for _, k := range []struct {
		name   string
		after  time.Duration // negative: never
		back   bool
		policy string
	}{
		{"never", -1, false, "local"},
		{"at once", 300 * time.Millisecond, false, "local"}, {"in the middle", time.Second, false, "local"},
		{"and back", time.Second, true, "local"}, {"late, and back", 1500 * time.Millisecond, true, "local"},
		{"no fallback", 800 * time.Millisecond, false, "fail"},
	} {
		t.Run(k.name, func(t *testing.T) {
			c.kill()
			if err := os.RemoveAll(c.dir); err != nil { // it remembers results
				t.Fatal(err)
			}
			c.start(t)
			two := farWorld(t)
			share(t, two, c.address, executes, fmt.Sprintf("fallback = %q", k.policy))
			planned := func(says string) {
				if o := two.Run(t, "plan", "p", "-v"); !strings.Contains(o.Stdout, says) {
					t.Errorf("the plan does not say %q: %s", says, o)
				}
			}
			planned("; runs here: the action may use the network")
			killed := make(<-chan struct{})
			if k.after >= 0 {
				killed = c.killAfter(t, k.after, k.back)
			}
			o := two.Run(t, "--json", "run", "p")
			if k.after >= 0 {
				<-killed
			}
			t.Logf("after %v: %s", o.Took, o.Stderr)
			if k.policy == "fail" {
				Wants(t, o, ExitEngine, "--remote off")
				return
			}
			if o.Code != 0 || o.Took > 30*time.Second {
				t.Fatalf("%s", o)
			}
			sameOut(t, one, two, "p")
			if there, _ := counted(t, o); k.after < 0 && there != 3 {
				t.Errorf("%d actions ran there: %s", there, o.Stderr)
			}
			if k.after < 0 {
				two.Write(t, "extra", "other\n")
				planned("; runs at remote team")
			}
			if n := strings.Count(o.Stderr, "\n"); n > 2 { // of which one says how many ran where
				t.Errorf("%d lines are said: %s", n, o.Stderr)
			}
		})
	}
	if o := one.Run(t, "plan", "p"); strings.Contains(o.Stderr, "remote") {
		t.Errorf("without a remote there is one: %s", o)
	}
}
