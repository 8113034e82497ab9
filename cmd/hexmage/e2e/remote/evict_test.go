//go:build linux

package remote_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
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
	w := NewWorld(t)
	w.Write(t, "pipelines/fill.hcl", `step "exec" "fill" {
  for_each = toset(["1", "2", "3"])
  argv     = ["sh", "-c", "seq $1 3000000 > fill", "fill", each.value+1]
  output "fill" { file = "fill" }
}
`)
	w.Env = []string{"HEXMAGE_DIGEST=sha256"}
	share(t, w, c.address, uploads)
	w.RunJSON(t, "fill")
	for range 60 {
		if len(c.blobs(t, is)) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("nothing was evicted")
}

// TestRemoteEvicts: casd has room for less than what comes, and throws away in the middle of a build what it said
// that it has.
func TestRemoteEvicts(t *testing.T) {
	evictWorld := func(extra string) *World {
		w := NewWorld(t)
		w.Write(t, "pipelines/p.hcl", evictPipeline)
		w.Write(t, "extra", extra)
		w.Env = []string{"HEXMAGE_DIGEST=sha256"}
		return w
	}
	alone := evictWorld("two\n")
	alone.RunJSON(t, "p")
	t.Run("what is found", func(t *testing.T) {
		c := newCasd(t)
		c.more = quota
		c.start(t)
		one := evictWorld("one\n")
		share(t, one, c.address, uploads)
		one.RunJSON(t, "p")
		two := evictWorld("two\n")
		share(t, two, c.address)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			time.Sleep(time.Second)
			c.evict(t)
		}()
		r := two.RunJSON(t, "p")
		<-gone
		t.Logf("%v: executed %q, said %s", r.Took, r.Names, r.Stderr)
		if want := []string{"exec.count", "exec.large", "exec.while"}; !slices.Equal(r.Names, want) ||
			r.Took > 15*time.Second {
			t.Errorf("executed %q in %v", r.Names, r.Took)
		}
		saysOnce(t, r.Outcome, "remote team reported", "builds again")
		sameOut(t, alone, two, "p")
	})
	t.Run("what is sent", func(t *testing.T) {
		c := newCasd(t)
		c.more = []string{"--quota-high=8M", "--quota-low=4M"}
		c.start(t)
		two := evictWorld("two\n")
		share(t, two, c.address, uploads)
		r := two.RunJSON(t, "p")
		t.Logf("%v: said %s", r.Took, r.Stderr)
		if r.Executed != 3 || r.Took > 15*time.Second {
			t.Errorf("executed %q in %v", r.Names, r.Took)
		}
		saysOnce(t, r.Outcome, "hexmage stops uploads to remote team")
		sameOut(t, alone, two, "p")
		three := evictWorld("two\n")
		share(t, three, c.address)
		saysOnce(t, three.RunJSON(t, "p").Outcome)
		sameOut(t, alone, three, "p")
	})
}

// TestRemoteExecutionEvicts: casd throws away, while actions run there, what it was sent and what it made, inputs of
// later actions. They are sent again.
func TestRemoteExecutionEvicts(t *testing.T) {
	c := startWorkers(t)
	c.more = append(c.more, quota...)
	c.restart(t)
	evictFar := func() *World {
		w := NewWorld(t).WithDownloads(t)
		w.Env = []string{"HEXMAGE_DIGEST=sha256"}
		w.Write(t, "pipelines/p.hcl", strings.Replace(evictPipeline, `locals { sh = ["sh", `, "toolchain "+
			"\"busybox\" {}\nlocals { sh = [\"${toolchain.busybox.dir}/bin/busybox\", \"sh\", ", 1))
		w.Write(t, "extra", "far\n")
		return w
	}
	one := evictFar()
	one.RunJSON(t, "p")
	two := evictFar()
	share(t, two, c.address, executes)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.evict(t)
	}()
	r := two.RunJSON(t, "p")
	<-gone
	t.Logf("after %v: %s", r.Took, r.Stderr)
	if there, _ := counted(t, r.Outcome); there != 3 || r.Took > 20*time.Second {
		t.Errorf("%d actions ran there, in %v: %s", there, r.Took, r.Stderr)
	}
	if n := strings.Count(r.Stderr, "\n"); n != 1 { // how many ran where
		t.Errorf("%d lines are said: %s", n, r.Stderr)
	}
	sameOut(t, one, two, "p")
}
