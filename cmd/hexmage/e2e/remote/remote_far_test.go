//go:build linux

package remote_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/internal/remote/latencyproxy"
)

// TestRemoteFar: where a round trip to the server takes 50 ms, 500 actions of one level and what reads all their
// outputs wait for a few of them: to look up, to plan, to fetch outputs, and to fetch inputs.
func TestRemoteFar(t *testing.T) {
	const text = `step "exec" "part" {
  for_each = { for i in range(500) : format("p%03d", i) => i }
  argv     = ["sh", "-c", "echo $0 > f", each.key]
  output "f" { file = "f" }
}
step "exec" "all" {
  argv   = concat(["sh", "-c", "cat extra \"$@\" > all", "all"], [for s in step.exec.part : s.outputs.f])
  inputs = ["extra"]
  output "all" { file = "all" }
}
output "all" { value = step.exec.all.outputs.all }
`
	const outputs = `output "f" { value = [for s in step.exec.part : s.outputs.f] }
`
	c := startCasd(t)
	link, err := latencyproxy.Listen(c.address, 25*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	start := func(address string, more ...string) *World {
		w := NewWorld(t)
		w.Write(t, "pipelines/p.hcl", text+outputs)
		w.Write(t, "extra", "1\n")
		share(t, w, address, more...)
		w.Env = []string{"HEXMAGE_DIGEST=sha256"}
		return w
	}
	one := start(c.address, uploads)
	if r := one.RunJSON(t, "p"); r.Executed != 501 {
		t.Fatalf("the first machine: %s", r)
	}
	const limit = 8 * time.Second // one after another they would take 25 s to look up, and as long to fetch
	within := func(what string, took time.Duration) {
		t.Logf("%s: %v", what, took)
		if took > limit {
			t.Errorf("%s took %v", what, took)
		}
	}
	two := start(link.Addr().String())
	if o := two.Run(t, "plan", "p"); o.Code != 0 || !strings.Contains(o.Stdout, "501 actions: 501 cached") {
		t.Errorf("the plan does not know what the remote has: %s", o)
	} else {
		within("a plan", o.Took)
	}
	r := two.RunJSON(t, "p")
	if r.Executed != 0 || r.Cached != 501 {
		t.Errorf("the second machine executed %q", r.Names)
	}
	within("a run", r.Took)
	sameOut(t, one, two, "p")
	three := start(link.Addr().String())
	three.Write(t, "pipelines/p.hcl", text) // so that what the parts made is wanted by the last action alone
	three.Write(t, "extra", "2\n")
	r = three.RunJSON(t, "p")
	if !slices.Equal(r.Names, []string{"exec.all"}) {
		t.Errorf("after an edit the third machine executed %q", r.Names)
	}
	within("a run with the last action", r.Took)
	if got, want := Read(t, three.Dir+"/out/p/all"),
		strings.Replace(Read(t, one.Dir+"/out/p/all"), "1\n", "2\n", 1); got != want {
		t.Errorf("it made %d bytes, and not %d", len(got), len(want))
	}
}
