package equiv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/oppackage"
)

// maxMakefile bounds how much of a makefile is looked at for versions of tools, and maxOutput what make may print.
const (
	maxMakefile = 4 << 20
	maxOutput   = 64 << 20
)

// Make asks a make what it would run.
type Make struct {
	Program string   // make's path
	Env     []string // NAME=VALUE for it, such as PATH
	Dir     string   // the package's folder
}

// sdks are folders that look like SDKs to a makefile, and what their paths stand for.
type sdks struct {
	qairt, hexagon, ndk string
	variables           []string // variables for an SDK that the makefile has for one target each, such as HEXAGON_SDK_ROOT_V79
}

var versions = lazyregexp.New(`(?m)^\s*HEXAGON_TOOLS_VERSION_?\w*\s*[:?]?=\s*([0-9][0-9A-Za-z.]*)\s*$`)

var targetRoot = lazyregexp.New(`HEXAGON_SDK_ROOT_[A-Z0-9]+`)

// newestTools is what the SDK has beside the versions that a makefile names.
const newestTools = "19.0.04"

// newSDKs makes the folders below root for a makefile. The Hexagon SDK's folder has a version for a name, since some
// makefiles look at it.
func newSDKs(root string, makefile []byte) (sdks, error) {
	s := sdks{qairt: filepath.Join(root, "qairt"), hexagon: filepath.Join(root, "6.4.0.2"), ndk: filepath.Join(root, "ndk")}
	for _, name := range targetRoot.Get().FindAll(makefile, 100) {
		s.variables = append(s.variables, string(name))
	}
	slices.Sort(s.variables)
	s.variables = slices.Compact(s.variables)
	tools := []string{newestTools}
	for _, m := range versions.Get().FindAllSubmatch(makefile, 100) {
		tools = append(tools, string(m[1]))
	}
	files := []string{
		s.qairt + "/include/QNN/QnnSdkBuildId.h", s.qairt + "/lib/aarch64-android/libQnnHtp.so",
		s.ndk + "/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++",
	}
	for _, v := range tools {
		at := s.hexagon + "/tools/HEXAGON_Tools/" + v + "/Tools"
		files = append(files, at+"/bin/hexagon-clang++", at+"/libnative/include/hexagon_types.h", at+"/libnative/lib/libnative.a")
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			return s, err
		}
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			return s, err
		}
	}
	return s, nil
}

var toolsFolder = lazyregexp.New(`\$\(HEXAGON\)/tools/HEXAGON_Tools/[^/\s]+/Tools`)

// name says roots by their names.
func (s sdks) name(word string) string {
	word = strings.NewReplacer(s.qairt, "$(QAIRT)", s.hexagon, "$(HEXAGON)", s.ndk, "$(NDK)").Replace(word)
	return toolsFolder.ReplaceAllString(word, "$$(TOOLS)")
}

// ErrNoTarget says that a makefile has no rule for a target.
var ErrNoTarget = errors.New("the makefile has no such target")

// lines returns the words of what `make -n` prints for the targets, of compilers only, in order.
func (m Make) lines(ctx context.Context, makefile string, s sdks, targets ...string) ([][]string, error) {
	args := append([]string{"-n", "--no-print-directory", "-C", m.Dir, "-f", makefile}, targets...)
	for _, name := range s.variables {
		args = append(args, name+"="+s.hexagon)
	}
	cmd := exec.CommandContext(ctx, m.Program, args...)
	cmd.Env = append([]string{
		"LC_ALL=C", "QAIRT_SDK_ROOT=" + s.qairt, "QNN_SDK_ROOT=" + s.qairt, "HEXAGON_SDK_ROOT=" + s.hexagon, "ANDROID_NDK_ROOT=" + s.ndk, "ANDROID_NDK_PATH=" + s.ndk,
	}, m.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(errs.String())
		if strings.Contains(said, "No rule to make target '"+targets[0]+"'") {
			return nil, ErrNoTarget
		}
		return nil, fmt.Errorf("make -n -f %s %s: %w\n%.2000s", makefile, strings.Join(targets, " "), err, said)
	}
	if out.Len() > maxOutput {
		return nil, fmt.Errorf("make -n -f %s %s prints %d bytes, which is no dry run of an op package", makefile, strings.Join(targets, " "), out.Len())
	}
	var all [][]string
	for line := range strings.Lines(strings.ReplaceAll(out.String(), "\\\n", "")) {
		words, err := Words(line)
		if err != nil {
			continue // text that a recipe prints
		}
		if _, ok := parse(words); ok {
			all = append(all, words)
		}
	}
	return all, nil
}

// Check compares what the generated Makefile would run for all arches, in one make, with the package's lines: word by
// word, in order. It returns the number of lines.
func Check(ctx context.Context, m Make, p oppackage.Package, arches []oppackage.Arch) (int, error) {
	root, err := os.MkdirTemp("", "hexmage-make-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(root)
	s, err := newSDKs(root, nil)
	if err != nil {
		return 0, err
	}
	var text bytes.Buffer
	if err := oppackage.Makefile(&text, p, arches); err != nil {
		return 0, err
	}
	makefile := filepath.Join(root, "Makefile")
	if err := os.WriteFile(makefile, text.Bytes(), 0o644); err != nil {
		return 0, err
	}
	var targets []string
	var want [][]string
	for _, a := range arches {
		targets = append(targets, a.Target)
		compiles, link := oppackage.Lines(a, p, s.roots())
		for _, c := range compiles {
			want = append(want, c.Args)
		}
		want = append(want, link.Args)
	}
	// A dry run shows what is to be done: everything, in a folder that nothing was built in.
	got, err := m.lines(ctx, makefile, s, append(targets, "BUILD=build", "-B")...)
	if err != nil {
		return 0, err
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return 0, fmt.Errorf("make runs %d lines, the pipeline %d: make lacks %q", len(got), len(want), want[i])
		case i >= len(want):
			return 0, fmt.Errorf("make runs %d lines, the pipeline %d: the pipeline lacks %q", len(got), len(want), got[i])
		}
		for k := range max(len(got[i]), len(want[i])) {
			if k >= len(got[i]) || k >= len(want[i]) || got[i][k] != want[i][k] {
				return 0, fmt.Errorf("line %d differs from word %d on:\nmake:     %q\npipeline: %q", i+1, k+1, got[i][min(k, len(got[i])):], want[i][min(k, len(want[i])):])
			}
		}
	}
	return len(want), nil
}

func (s sdks) roots() oppackage.Roots {
	return oppackage.Roots{QAIRT: s.qairt, Hexagon: s.hexagon, Tools: newestTools, NDK: s.ndk}
}
