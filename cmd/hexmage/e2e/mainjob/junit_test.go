//go:build linux

package mainjob_test

import (
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// A reader of JUnit's XML that is not ours takes what --junit writes, and counts the same.
func TestJUnitReader(t *testing.T) {
	w := NewWorld(t).WithDownloads(t)
	w.Write(t, "pipelines/bad.hcl", `
step "exec" "good" { argv = ["true"] }
step "exec" "bad" {
  argv       = ["sh", "-c", "printf 'a.c:1: error: \\033[1m<&]]>\\001\\n'; exit 3"]
  depends_on = [step.exec.good]
}
step "exec" "late" {
  argv       = ["true"]
  depends_on = [step.exec.bad]
}
check "none" {
  condition     = false
  error_message = "ä & < none"
}
`)
	w.Write(t, "pipelines/read.hcl", `
toolchain "reader" {
  python       = "3.13"
  requirements = ["junitparser==5.0.3"]
  exclude_newer = "2026-11-20"
}
step "python" "read" {
  environment = toolchain.reader.dir
  script      = "read.py"
  inputs      = ["bad.xml"]
  output "said" { file = "said" }
}
output "said" { value = step.python.read.outputs.said }
`)
	w.Write(t, "read.py", `
from junitparser import JUnitXml
x = JUnitXml.fromfile("bad.xml")
with open("said", "w") as f:
    print(x.name, x.tests, x.failures, x.errors, x.skipped, file=f)
    for s in x:
        for c in s:
            print(s.name, c.name, [(type(r).__name__, r.message) for r in c.result], file=f)
`)
	Wants(t, w.Run(t, "run", "bad", "--junit", "bad.xml"), ExitFailed, "exec.bad")
	Wants(t, w.Run(t, "lock", "read"), ExitOK)
	Wants(t, w.Run(t, "run", "read"), ExitOK)
	const want = `bad 4 2 0 1
exec.good exec.good []
exec.bad exec.bad [('Failure', 'exit code 3')]
exec.late exec.late [('Skipped', 'a step that it depends on failed')]
checks check.none [('Failure', 'ä & < none')]
`
	if got := Read(t, filepath.Join(w.Dir, "out", "read", "said")); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}
