package equiv_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/equiv"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

func maker(t *testing.T, dir string) equiv.Make {
	t.Helper()
	return equiv.Make{Program: toolchaintest.Path(t, "make", "usr/bin/make"), Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir}
}

// packageOf lists a folder as a package.
func packageOf(t *testing.T, dir string) oppackage.Package {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	name, err := oppackage.FindName("", files)
	if err != nil {
		t.Fatal(err)
	}
	return oppackage.Package{Name: name, Files: files}
}

// synthetic is a makefile as people have them, with one rule for each target: much like ours, and in some words not.
const synthetic = `
ifndef QNN_INCLUDE
QNN_INCLUDE := $(QNN_SDK_ROOT)/include/QNN
endif
HEXAGON_TOOLS_VERSION_V75 := 8.7.06
TOOLS := $(HEXAGON_SDK_ROOT_V75)/tools/HEXAGON_Tools/$(HEXAGON_TOOLS_VERSION_V75)/Tools
ifeq ($(wildcard $(TOOLS)/bin/hexagon-clang++),)
$(error no tools at $(TOOLS))
endif
PACKAGE_NAME := $(notdir $(shell pwd))
COMMON := -std=c++17 -I$(QNN_INCLUDE) -fPIC -Wall -Wreorder -Wno-missing-braces -Wno-unused-function -Werror -Wno-format \
  -Wno-unused-command-line-argument -fvisibility=default -stdlib=libc++ \
  -DQNN_API="__attribute__((visibility(\"default\")))" -D__QAIC_HEADER_EXPORT="__attribute__((visibility(\"default\")))" \
  -DTHIS_PKG_NAME=$(PACKAGE_NAME) -fno-builtin
Q := $(HEXAGON_SDK_ROOT_V75)/rtos/qurt/computev75/include
HEX := -mv75 -mhvx -mhvx-length=128B -mhmx -DUSE_OS_QURT -O2 -Wno-reorder -DPREPARE_DISABLED \
  -I$(Q)/qurt -I $(Q)/posix/ -I$(HEXAGON_SDK_ROOT_V75)/incs -I$(HEXAGON_SDK_ROOT_V75)/incs/stddef
OPS := -I$(HEXAGON_SDK_ROOT)/libs/qhl_hvx/inc/qhmath_hvx/ -I$(HEXAGON_SDK_ROOT)/libs/qhl_hvx/inc/internal
OUT := build/hexagon-v75
htp_v75: $(OUT)/libQnnP.so
$(OUT)/libQnnP.so: $(OUT)/PInterface.o $(OUT)/ops/A.o
	$(TOOLS)/bin/hexagon-clang++ -fPIC -std=c++17 -g -shared -o $@ $^
$(OUT)/%.o: src/%.cpp
	@echo "it's compiling"
	mkdir -p $(@D)
	$(TOOLS)/bin/hexagon-clang++ $(COMMON) $(HEX) $(if $(findstring ops,$@),$(OPS) @EXTRA@) -MMD -c $< -o $@
`

func TestSynthetic(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "P")
	write := func(name, text string) string {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	write("src/PInterface.cpp", "")
	write("src/ops/A.cpp", "")
	p := packageOf(t, dir)
	arches, err := sdktest.Targets(t).Select([]string{"htp_v75", "htp_v79"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, extra string
		unexplained []string
	}{
		{"as it is", "", nil},
		{"a define of theirs", "-DFAST=1 -O3", []string{"-DFAST=1", "-O3"}},
		{"a folder of theirs", "-I/opt/inc/", []string{"-I/opt/inc"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			makefile := write("theirs.mk", strings.ReplaceAll(synthetic, "@EXTRA@", tt.extra))
			targets, err := equiv.Compare(t.Context(), maker(t, dir), makefile, p, arches)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range targets[0].Differences {
				if d.Reason == "" {
					got = append(got, d.Word)
				}
			}
			if !slices.Equal(got, tt.unexplained) || targets[0].Compiles != 2 || targets[0].Same < 50 || !targets[1].Missing {
				t.Errorf("without a reason: %q, want %q; %+v", got, tt.unexplained, targets)
			}
			var text strings.Builder
			if err := equiv.Write(&text, targets); err != nil || !strings.Contains(text.String(), "- -fno-builtin") || !strings.Contains(text.String(), "htp_v79: the other makefile lacks this target") || strings.Contains(text.String(), "NOT INTENDED") != (len(got) > 0) {
				t.Errorf("%v\n%s", err, text.String())
			}
		})
	}
	if _, err := equiv.Compare(t.Context(), maker(t, dir), write("bad.mk", "$(error says why)\n"), p, arches); err == nil || !strings.Contains(err.Error(), "says why") {
		t.Errorf("a makefile that fails: %v", err)
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		`a  b	c`:                  {"a", "b", "c"},
		`a 'b c'd "e f"`:          {"a", "b cd", "e f"},
		`-DX="\"y\" \z" '' "" \ `: {`-DX="y" \z`, "", "", " "},
		`'it'\''s'`:               {"it's"},
	} {
		if got, ok := equiv.Words(line); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", line, got, ok, want)
		}
	}
	for _, bad := range []string{`'a`, `"a`, `"a\"`} {
		if got, ok := equiv.Words(bad); ok {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`a 'b c'd "e\"" \ `)
	f.Fuzz(func(t *testing.T, line string) {
		words, ok := equiv.Words(line)
		n := 0
		for _, w := range words {
			n += len(w)
		}
		if ok && n > len(line) {
			t.Errorf("%q became longer: %q", line, words)
		}
	})
}
