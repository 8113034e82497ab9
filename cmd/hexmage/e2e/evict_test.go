//go:build linux

package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// quota is how much the server has room for: what was used longest ago goes when there is more.
var quota = []string{"--quota-high=60M", "--quota-low=30M"}

// evictPipeline has what the remote has, something that takes a while here, and then what takes the first.
const evictPipeline = `locals { sh = ["sh", "-ec"] }
step "exec" "large" {
  argv = concat(local.sh, ["seq 1 3000000 > large"])
  output "large" { file = "large" }
}
step "exec" "while" {
  argv   = concat(local.sh, ["cat extra; sleep 4; cat extra > w"])
  inputs = ["extra"]
  output "w" { value = "w" }
}
step "exec" "count" {
  argv = concat(local.sh, ["cksum < $1 > n; echo $2 >> n", "count", step.exec.large.outputs.large, step.exec.while.outputs.w])
  output "n" { value = "n" }
}
output "n" { value = step.exec.count.outputs.n }
`

const evictSize = 22888896 // bytes of large

// evict fills the server with other things once it has what is large, and returns when that is gone from there.
func (c *casd) evict(t *testing.T) {
	t.Helper()
	is := func(size int64) bool { return size == evictSize }
	for range 200 {
		if len(c.blobs(t, is)) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	w := newWorld(t)
	w.write(t, "pipelines/fill.hcl", `step "exec" "fill" {
  for_each = toset(["1", "2", "3"])
  argv     = ["sh", "-c", "seq $1 3000000 > fill", "fill", each.value+1]
  output "fill" { file = "fill" }
}
`)
	w.env = []string{"HEXMAGE_DIGEST=sha256"}
	w.use(t, c.address, uploads)
	w.runJSON(t, "fill")
	for range 60 {
		if len(c.blobs(t, is)) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("nothing was evicted")
}

// TestRemoteEvicts: casd has room for less than what comes, and throws away in the middle of a build what it said that it has.
func TestRemoteEvicts(t *testing.T) {
	evictWorld := func(extra string) *world {
		w := newWorld(t)
		w.write(t, "pipelines/p.hcl", evictPipeline)
		w.write(t, "extra", extra)
		w.env = []string{"HEXMAGE_DIGEST=sha256"}
		return w
	}
	alone := evictWorld("two\n")
	alone.runJSON(t, "p")
	t.Run("what is found", func(t *testing.T) {
		c := newCasd(t)
		c.more = quota
		c.start(t)
		one := evictWorld("one\n")
		one.use(t, c.address, uploads)
		one.runJSON(t, "p")
		two := evictWorld("two\n")
		two.use(t, c.address)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			time.Sleep(time.Second)
			c.evict(t)
		}()
		r := two.runJSON(t, "p")
		<-gone
		t.Logf("%v: executed %q, said %s", r.took, r.names, r.stderr)
		if want := []string{"exec.count", "exec.large", "exec.while"}; !slices.Equal(r.names, want) || r.took > 15*time.Second {
			t.Errorf("executed %q in %v", r.names, r.took)
		}
		saysOnce(t, r.outcome, "remote team said that it has", "building again")
		sameOut(t, alone, two, "p")
	})
	t.Run("what is sent", func(t *testing.T) {
		c := newCasd(t)
		c.more = []string{"--quota-high=8M", "--quota-low=4M"}
		c.start(t)
		two := evictWorld("two\n")
		two.use(t, c.address, uploads)
		r := two.runJSON(t, "p")
		t.Logf("%v: said %s", r.took, r.stderr)
		if r.executed != 3 || r.took > 15*time.Second {
			t.Errorf("executed %q in %v", r.names, r.took)
		}
		saysOnce(t, r.outcome, "nothing more is sent to remote team")
		sameOut(t, alone, two, "p")
		three := evictWorld("two\n")
		three.use(t, c.address)
		saysOnce(t, three.runJSON(t, "p").outcome)
		sameOut(t, alone, three, "p")
	})
}

// TestRemoteExecutionEvicts: casd throws away, while actions run there, what it was sent and what it made, inputs of later actions. They are sent again.
func TestRemoteExecutionEvicts(t *testing.T) {
	c := startWorkers(t)
	c.more = append(c.more, quota...)
	c.restart(t)
	evictFar := func() *world {
		w := newWorld(t).withDownloads(t)
		w.env = []string{"HEXMAGE_DIGEST=sha256"}
		w.write(t, "pipelines/p.hcl", strings.Replace(evictPipeline, `locals { sh = ["sh", `, "toolchain \"busybox\" {}\nlocals { sh = [\"${toolchain.busybox.dir}/bin/busybox\", \"sh\", ", 1))
		w.write(t, "extra", "far\n")
		return w
	}
	one := evictFar()
	one.runJSON(t, "p")
	two := evictFar()
	two.use(t, c.address, executes)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.evict(t)
	}()
	r := two.runJSON(t, "p")
	<-gone
	t.Logf("after %v: %s", r.took, r.stderr)
	if there, _ := counted(t, r.outcome); there != 3 || r.took > 20*time.Second {
		t.Errorf("%d actions ran there, in %v: %s", there, r.took, r.stderr)
	}
	if n := strings.Count(r.stderr, "\n"); n != 1 { // how many ran where
		t.Errorf("%d lines are said: %s", n, r.stderr)
	}
	sameOut(t, one, two, "p")
}
