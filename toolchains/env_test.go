package toolchains_test

import (
	"strings"
	"testing"
)

func TestEnv(t *testing.T) {
	c, _ := builtin(t)
	for _, x := range []struct{ name, root, tools, variable, want string }{
		{"qairt", "/sdk", "", "QNN_SDK_ROOT", "/sdk"},
		{"qairt", "/sdk", "", "PATH", "/sdk/bin/x86_64-linux-clang"},
		{"qairt", "/sdk", "", "PYTHONPATH", "/sdk/benchmarks/QNN:/sdk/lib/python"},
		{"hexagon", "/hex", "", "DEFAULT_HEXAGON_TOOLS_ROOT", "/hex/tools/HEXAGON_Tools/19.0.04"},
		{"hexagon", "/hex", "tools/HEXAGON_Tools/21.0.01", "HEXAGON_TOOLS_ROOT", "/hex/tools/HEXAGON_Tools/21.0.01"},
		{"ndk", "/ndk", "", "ANDROID_NDK_ROOT", "/ndk"},
	} {
		tc, r, err := c.Find(x.name, "")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range tc.Env(r, x.root, x.tools) {
			if strings.Contains(e.Value, "${") {
				t.Errorf("%s: %s=%s is not filled in", x.name, e.Name, e.Value)
			}
			if e.Name != x.variable {
				continue
			}
			found = true
			if e.Value != x.want {
				t.Errorf("%s: %s=%s, want %s", x.name, e.Name, e.Value, x.want)
			}
			once := e.Apply("/usr/bin:/bin")
			if e.Prepend && once != x.want+":/usr/bin:/bin" || !e.Prepend && once != x.want {
				t.Errorf("%s: applied %s=%s", x.name, e.Name, once)
			}
			if twice := e.Apply(once); twice != once {
				t.Errorf("%s: applied twice %s=%s", x.name, e.Name, twice)
			}
		}
		if !found {
			t.Errorf("%s sets no %s", x.name, x.variable)
		}
	}
}
