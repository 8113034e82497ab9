package engine

import (
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

func TestPrintedNames(t *testing.T) {
	host := func(at, path string) action.Input {
		return action.Input{Path: at, Host: &action.HostPath{Path: path}}
	}
	inputs := []action.Input{
		host("in/source", "ops"), host("in/source/gen", "made/gen"), host("in/one.c", "/elsewhere/one.c"),
		host("same.c", "same.c"), host("", "all"),
		{Path: "steps/patch/x.dir", Artifact: &addrs.Output{}},
	}
	for printed, want := range map[string]string{
		"in/source/a.c:3:5: error: x\n":                  "ops/a.c:3:5: error: x\n",
		"In file included from in/source/a/b.h:1:\n":     "In file included from ops/a/b.h:1:\n",
		"in/source/gen/a.c(3): 'in/source/b.c'":          "made/gen/a.c(3): 'ops/b.c'",
		"in/one.c: no such file":                         "/elsewhere/one.c: no such file",
		"in/sources/a.c other/in/source/a.c":             "in/sources/a.c other/in/source/a.c", // other names
		"steps/patch/x.dir/a.c:1: same.c:2: -Iin/source": "steps/patch/x.dir/a.c:1: same.c:2: -Iin/source",
		"":                              "",
		"in/source":                     "ops",
		"in/source/":                    "ops/",
		"größe in/source/ä.c: \xff\xfe": "größe ops/ä.c: \xff\xfe",
	} {
		if got := printedNames(printed, inputs); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}
