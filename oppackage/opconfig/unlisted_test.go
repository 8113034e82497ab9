package opconfig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

func TestUnlisted(t *testing.T) {
	const (
		a     = "BEGIN_PKG_OP_DEFINITION(PKG_a);\nDEF_PACKAGE_OP((f<Tensor>), \"A\")\nDEF_PACKAGE_OP((g<Tensor>), \"A.tcm\")\n"
		b     = "BEGIN_PKG_OP_DEFINITION(PKG_b);\nDEF_PACKAGE_OP((f<Tensor>), \"B\")\n"
		names = "\nnames{{\"A\", \"B\"}};"
	)
	list := func(inner string) string {
		return "BEGIN_PKG_OPS_OPTS_LIST()\n" + inner + "\nEND_PKG_OPS_OPTS_LIST()\n"
	}
	for what, c := range map[string]struct{ iface, want string }{
		"both":                {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nDECLARE_PKG_OPS_OPTS_LIST( PKG_b );") + names, ""},
		"one is missing":      {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)") + names, "add DECLARE_PKG_OPS_OPTS_LIST(PKG_b) to its list of ops"},
		"one is in a comment": {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)\n// DECLARE_PKG_OPS_OPTS_LIST(PKG_b)\n/* DECLARE_PKG_OPS_OPTS_LIST(PKG_b) */") + names, "add DECLARE_PKG_OPS_OPTS_LIST(PKG_b) to its list of ops"},
		"a name is missing":   {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nDECLARE_PKG_OPS_OPTS_LIST(PKG_b)") + "names{{\"A\"}};", `add "B" to its names of ops, raise their number, and extend validateOpConfig`},
		"both are missing": {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)") + "names{{\"A\"}};",
			`add DECLARE_PKG_OPS_OPTS_LIST(PKG_b) to its list of ops; add "B" to its names of ops, raise their number, and extend validateOpConfig`},
		"one of two arches has it": {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)\n#ifdef __hexagon__\nDECLARE_PKG_OPS_OPTS_LIST(PKG_b)\n  # endif") + names, ""},
		"the list is elsewhere":    {list("#include \"list.h\"") + names, ""},
		"a macro of its own":       {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nOURS(PKG_b)") + names, ""},
		"the names are elsewhere":  {list("DECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nDECLARE_PKG_OPS_OPTS_LIST(PKG_b)") + "names{NAMES};", ""},
		"no interface":             {"int x;", ""},
	} {
		if got := opconfig.Unlisted([]byte(c.iface), [][]byte{[]byte(a), []byte("void help() {}"), []byte(b)}); got[0] != "" || got[1] != "" || got[2] != c.want {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestRules has packages whose own optimizations make ops, which no graph names.
func TestRules(t *testing.T) {
	begin := func(name string) string { return "BEGIN_PKG_OP_DEFINITION(PKG_" + name + ");\r\n" }
	const (
		rule = "DEF_PACKAGE_OPTIMIZATION(EARLY, Op(\"Twice\", \"x\"), AND(OK, LESS(1, 2)),\r\n\tWITH_SAME_OUTPUT(\"x\", Op(FROM_DEFAULT_PACKAGE(\"Quantize\"), Op( \"Twice.flat\", \"x\"))))\n"
		flat = "DEF_PACKAGE_OP((f<Tensor>), \"Twice.flat\")\nDEF_PACKAGE_OP((g<Tensor>), \"Twice.flat.tcm\")\n"
		self = "DEF_PACKAGE_OPTIMIZATION_WITH_FLAGS(LATE + 1, flag, Op(\"Own\", \"x\"), OK, Op(\"Own\", \"x\"))\nDEF_PACKAGE_OP((f<Tensor>), \"Own\")\n"
		open = "DEF_PACKAGE_OPTIMIZATION(EARLY, Op(\"Twice\", \"(\\\"\")"
	)
	const add = `add %s to its names of ops, raise their number, and extend validateOpConfig`
	for what, c := range map[string]struct{ names, source, want string }{
		"the graph's name is listed": {`"Other", "Twice"`, begin("a") + rule + flat, ""},
		"it is not listed":           {`"Other"`, begin("a") + rule + flat, strings.ReplaceAll(add, "%s", `"Twice"`)},
		"the variant is listed":      {`"Other", "Twice.flat"`, begin("a") + rule + flat, ""},
		"only optimizations":         {`"Other"`, begin("a") + rule, strings.ReplaceAll(add, "%s", `"Twice"`)},
		"an op that replaces itself": {`"Other"`, begin("a") + self, strings.ReplaceAll(add, "%s", `"Own"`)},
		"the rule has no end":        {`"Other", "Twice"`, begin("a") + open, ""},
	} {
		iface := "BEGIN_PKG_OPS_OPTS_LIST()\nDECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nDECLARE_PKG_OPS_OPTS_LIST(PKG_o)\nEND_PKG_OPS_OPTS_LIST()\nnames{{" + c.names + "}};"
		other := begin("o") + "DEF_PACKAGE_OP((f<Tensor>), \"Other\")\n"
		if got := opconfig.Unlisted([]byte(iface), [][]byte{[]byte(c.source), []byte(other)}); got[0] != c.want || got[1] != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
	// The ops of one source are made by the rule of another.
	iface := "BEGIN_PKG_OPS_OPTS_LIST()\nDECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nDECLARE_PKG_OPS_OPTS_LIST(PKG_b)\nEND_PKG_OPS_OPTS_LIST()\nnames{{\"Twice\"}};"
	if got := opconfig.Unlisted([]byte(iface), [][]byte{[]byte(begin("a") + rule), []byte(begin("b") + flat)}); got[0] != "" || got[1] != "" {
		t.Errorf("two sources: %q", got)
	}
	var names []string
	for _, op := range opconfig.Named([]byte(begin("a") + rule + flat)) {
		names = append(names, op.Name)
	}
	if got := strings.Join(names, " "); got != "Twice.flat Twice.flat.tcm Twice" {
		t.Errorf("a made interface lists %s", got)
	}
}

// TestUnlistedMllm says nothing of mllm's packages, whose ops are all listed, and finds each op that is taken out.
func TestUnlistedMllm(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	for _, commit := range []string{"b9c30702", "71d7a680"} {
		show := func(args ...string) string {
			out, err := exec.Command("git", append([]string{"-C", clone}, args...)...).Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return string(out)
		}
		var iface string
		var sources [][]byte
		for _, f := range strings.Fields(show("ls-tree", "-r", "--name-only", commit)) {
			switch {
			case strings.HasSuffix(f, "/src/LLaMAPackageInterface.cpp"):
				iface = show("show", commit+":"+f)
			case strings.Contains(f, "LLaMAPackage/src/ops/") && filepath.Ext(f) == ".cpp":
				sources = append(sources, []byte(show("show", commit+":"+f)))
			}
		}
		for i, missing := range opconfig.Unlisted([]byte(iface), sources) {
			registration := opconfig.Registered(sources[i])[0].Registration
			without := strings.Replace(iface, "DECLARE_PKG_OPS_OPTS_LIST("+registration+")", "", 1)
			if got := opconfig.Unlisted([]byte(without), sources)[i]; missing != "" || !strings.Contains(got, registration) {
				t.Errorf("%s, %s: %q; taken out: %q", commit, registration, missing, got)
			}
		}
		t.Logf("%s: %d sources", commit, len(sources))
		if len(sources) < 10 {
			t.Errorf("%s: %d sources", commit, len(sources))
		}
	}
}

func TestRunListed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	s := opconfig.ListedSpec{Out: filepath.Join(dir, "ops.txt"), Ops: []string{write("a.cpp", "BEGIN_PKG_OP_DEFINITION(PKG_a)\nDEF_PACKAGE_OP(f, \"A\")")},
		Interface: []string{write("i.cpp", "BEGIN_PKG_OPS_OPTS_LIST()\nEND_PKG_OPS_OPTS_LIST()")}}
	if _, stderr, code := tooltest.Run(t, opconfig.ListedTool, opconfig.RunListed, s); code != 1 || !strings.Contains(stderr, "a.cpp: the interface leaves out A, so the library would lack it: in "+s.Interface[0]+", add DECLARE_PKG_OPS_OPTS_LIST(PKG_a)") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	write("i.cpp", "BEGIN_PKG_OPS_OPTS_LIST()\nDECLARE_PKG_OPS_OPTS_LIST(PKG_a)\nEND_PKG_OPS_OPTS_LIST()")
	_, stderr, code := tooltest.Run(t, opconfig.ListedTool, opconfig.RunListed, s)
	if report, err := os.ReadFile(s.Out); code != 0 || err != nil || string(report) != "a.cpp: A\n" {
		t.Errorf("exit %d: %s: %v: %s", code, stderr, err, report)
	}
	s.Ops = []string{filepath.Join(dir, "none.cpp")}
	if _, stderr, code := tooltest.Run(t, opconfig.ListedTool, opconfig.RunListed, s); code == 0 || !strings.Contains(stderr, "none.cpp") {
		t.Errorf("a source that is not there: exit %d: %s", code, stderr)
	}
}
