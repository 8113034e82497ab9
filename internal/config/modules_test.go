package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/config"
)

func TestLoadModules(t *testing.T) {
	shipped := workspace("modules/ops/main.hcl", "module {\n  description = \"an op package\"\n}\nvariable "+
		"\"source_dir\" {}\nmodule \"sub\" {\n  source = \"./sub\"\n}\n",
		"modules/ops/sub/a.hcl", "output \"x\" {\n  value = 1\n}\n")
	p, diags := config.Load(workspace(
		"pipelines/p.hcl", `
module "aot" {
  source   = "../modules/aot"
  for_each = { a = 1 }
  model    = "m"
}
module "ops" {
  source     = "ops"
  source_dir = "src"
}
`,
		"modules/aot/main.hcl", "variable \"model\" {}\nmodule \"ops\" {\n  source = \"ops\"\n}\n",
		"modules/aot/outputs.hcl", "output \"x\" {\n  value = 1\n}\n",
	), "p", func(source string) (config.ModuleFolder, error) {
		return config.ModuleFolder{FS: shipped, Dir: "modules/" + source, Root: "/shipped"}, nil
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	aot, ops := p.Calls[0], p.Calls[1]
	if aot.Module.Dir != "modules/aot" || aot.ForEach == nil || len(aot.Arguments) != 1 ||
		len(aot.Module.Outputs) != 1 || len(aot.Module.Variables) != 1 {
		t.Errorf("%+v", aot)
	}
	if ops.Module.Dir != "/shipped/modules/ops" || ops.Module.Description != "an op package" ||
		ops.Module != aot.Module.Calls[0].Module {
		t.Errorf("%+v", ops.Module)
	}
	if sub := ops.Module.Calls[0].Module; sub.Dir != "/shipped/modules/ops/sub" || len(sub.Outputs) != 1 {
		t.Errorf("%+v", sub)
	}
	for _, name := range []string{"pipelines/p.hcl", "modules/aot/main.hcl", "modules/aot/outputs.hcl",
		"/shipped/modules/ops/main.hcl", "/shipped/modules/ops/sub/a.hcl"} {
		if p.Files[name] == nil {
			t.Errorf("%s is not among the files", name)
		}
	}
	if got := strings.Join(p.Dirs, " "); got != "pipelines modules/aot /shipped/modules/ops /shipped/modules/ops/sub" {
		t.Errorf("folders %s", got)
	}
}

func TestModuleErrors(t *testing.T) {
	call := func(source string) string { return "module \"m\" {\n  source = \"" + source + "\"\n}\n" }
	for name, tt := range map[string]struct {
		files []string
		want  string
	}{
		"no source": {[]string{"pipelines/p.hcl", "module \"m\" {}\n"}, "The module block has no source"},
		"not a text": {[]string{"pipelines/p.hcl", "module \"m\" {\n  source = var.x\n}\n"},
			"hexmage reads source before"},
		"absent": {[]string{"pipelines/p.hcl", call("../m")},
			"Cannot read ../m (folder m): the folder does not exist"},
		"a file":  {[]string{"pipelines/p.hcl", call("../m"), "m", ""}, "not a folder"},
		"empty":   {[]string{"pipelines/p.hcl", call("../m"), "m/README", ""}, "the folder has no *.hcl files"},
		"outside": {[]string{"pipelines/p.hcl", call("../../m")}, "points outside the folder tree"},
		"unknown": {[]string{"pipelines/p.hcl", call("nosuch")}, "there is no nosuch"},
		"itself": {[]string{"pipelines/p.hcl", call("../a"), "a/a.hcl", call("../b"), "b/b.hcl", call("../a")},
			"a/a.hcl:1 calls b\n  b/b.hcl:1 calls a"},
		"about twice": {[]string{"pipelines/p.hcl", call("../a"), "a/a.hcl", "module {}\nmodule {}\n"},
			"The module block is declared here and at a/a.hcl:1"},
		"pipeline": {[]string{"pipelines/p.hcl", call("../a"), "a/a.hcl", "pipeline {}\n"},
			"The block pipeline is not valid in a module's file"},
		"target": {[]string{"pipelines/p.hcl", call("../a"), "a/a.hcl", "target \"Alpha7\" {}\n"},
			"The block target is not valid in a module's file"},
		"default": {[]string{"pipelines/p.hcl", "toolchain \"x\" {\n  default = true\n}\n"},
			"A pipeline has no caller. Remove the argument"},
		"output": {[]string{"pipelines/p.hcl", call("../a"), "a/a.hcl", "output \"a.b\" {\n  value = 1\n}\n"},
			"is not a valid name"},
		"no label": {[]string{"pipelines/p.hcl", "module {}\n"}, "Missing name for module"},
		"two calls": {[]string{"pipelines/p.hcl", call("../a") + call("../a"), "a/a.hcl", ""},
			"module.m is declared here and at pipelines/p.hcl:1"},
	} {
		_, diags := config.Load(workspace(tt.files...), "p", func(source string) (config.ModuleFolder, error) {
			return config.ModuleFolder{}, errors.New("there is no " + source)
		})
		if got := config.Render(diags, nil, 0, false); !diags.HasErrors() || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", name, got, tt.want)
		}
	}
	deep := []string{"pipelines/p.hcl", call("../a")}
	for dir := "a"; len(dir) < 40; dir += "/a" {
		deep = append(deep, dir+"/a.hcl", call("./a"))
	}
	if _, diags := config.Load(workspace(deep...), "p", nil); !strings.Contains(config.Render(diags, nil, 0, false),
		"Too many modules") {
		t.Errorf("calls in calls: %v", diags)
	}
}

func TestProfileParts(t *testing.T) {
	p, diags := config.Load(workspace("pipelines/p.hcl", `
toolchain "llvm" {
  version = "1"
  url     = "u"
}
step "exec" "all" {}
profile "open" {
  default = true
  locals {
    a = 1
  }
  toolchain "llvm" { version = "2" }
  toolchain "qemu" {}
  step "exec" "x" {}
  module "m" {
    source = "../m"
  }
  output "o" {
    value = 1
  }
}
profile "real" {
  locals {
    a = 2
  }
  step "exec" "x" {}
}
`, "m/m.hcl", ""), "p", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for profile, want := range map[string][5]int{"": {0, 1, 1, 0, 0}, "open": {1, 2, 2, 1, 1},
		"real": {1, 1, 2, 0, 0}} {
		got := p.With(profile)
		if n := [5]int{len(got.Locals), len(got.Toolchains), len(got.Steps), len(got.Calls),
			len(got.Outputs)}; n != want {
			t.Errorf("profile %q: %v, want %v", profile, n, want)
		}
	}
	attrs, ds := p.With("open").Toolchains[0].Body.JustAttributes()
	if v, _ := attrs["version"].Expr.Value(nil); ds.HasErrors() || v.AsString() != "2" || attrs["url"] == nil {
		t.Errorf("%v %v", attrs, ds)
	}
	for what, both := range map[string]string{
		"local.a":     "locals {\n  a = 1\n}\n",
		"step.exec.x": "step \"exec\" \"x\" {}\n",
		"module.m":    "module \"m\" {\n  source = \"../m\"\n}\n",
		"output.o":    "output \"o\" {\n  value = 1\n}\n",
	} {
		_, diags := config.Load(workspace("pipelines/p.hcl", "profile \"open\" {\n"+both+"}\n"+both, "m/m.hcl", ""),
			"p", nil)
		if got := config.Render(diags, nil, 0, false); !strings.Contains(got,
			what+" is declared here for profile open, and at pipelines/p.hcl:") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"target \"Alpha7\" {}\ntarget \"Beta7\" {}\n", ""},
		{"target {}\n", ""},
		{"target \"Alpha7\" {}\ntarget \"Alpha7\" {}\n", "target Alpha7 is declared here and at pipelines/p.hcl:1"},
		{"target \"Alpha7\" {}\ntarget {}\n", "A pipeline with several targets needs a label in each block"},
		{"target {}\ntarget \"Alpha7\" {}\n", "A pipeline with several targets needs a label in each block"},
		{"target \"Alpha7\" \"x\" {}\n", "A target block has one label"},
	} {
		p, diags := config.Load(workspace("pipelines/p.hcl", tt.text), "p", nil)
		if got := config.Render(diags, nil, 0, false); diags.HasErrors() != (tt.want != "") ||
			!strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.text, got, tt.want)
		}
		if len(p.Targets) == 0 {
			t.Errorf("%s: no targets", tt.text)
		}
	}
}
