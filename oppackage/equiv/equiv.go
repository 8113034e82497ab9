// Package equiv compares the lines that a makefile of an op package runs with the lines that hexmage's own actions run.
//
// It runs make in a dry run with empty folders in place of SDKs, so it needs no SDK. It knows compilers' command lines,
// and a table of intended differences with reasons. It does not check whether the lines work.
package equiv

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hashicorp/hcl/v2/hclsimple"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/oppackage"
)

// maxMakefile bounds a makefile, in bytes.
const maxMakefile = 4 << 20

//go:embed differences.hcl
var differencesFile []byte

// known is an intended difference.
type known struct {
	Word    string   `hcl:"word,label"` // as in Difference: a path.Match pattern in which * also matches slashes
	Side    string   `hcl:"side"`       // "ours" or "theirs"
	Targets []string `hcl:"targets,optional"`
	Lines   string   `hcl:"lines,optional"` // "compile" or "link"
	Reason  string   `hcl:"reason"`
}

func (k known) explains(target string, d Difference) bool {
	link := slices.Contains(d.Lines, "link")
	if k.Side != d.Side || len(k.Targets) > 0 && !slices.Contains(k.Targets, target) ||
		k.Lines == "link" && (!link || len(d.Lines) > 1) || k.Lines == "compile" && link {
		return false
	}
	flat := strings.NewReplacer("/", "\x00") // * matches it
	ok, err := path.Match(flat.Replace(k.Word), flat.Replace(d.Word))
	return err == nil && ok
}

// Difference is a word that only one side's command lines contain.
type Difference struct {
	Side   string   `json:"side"` // "ours" or "theirs"
	Word   string   `json:"word"`
	Lines  []string `json:"lines"`            // sources of the compilations, or "link"
	Reason string   `json:"reason,omitempty"` // reason of a known difference
}

// Target is the result of the comparison for one target.
type Target struct {
	Target      string       `json:"target"`
	Missing     bool         `json:"missing,omitempty"` // the makefile lacks the target
	Compiles    int          `json:"compiles"`          // number of compilations on both sides
	Same        int          `json:"same"`              // number of words on both sides
	Differences []Difference `json:"differences"`
}

// Unexplained returns the number of differences without a reason.
func (t Target) Unexplained() (n int) {
	for _, d := range t.Differences {
		if d.Reason == "" {
			n++
		}
	}
	return n
}

// Make is a make program and its environment.
type Make struct {
	Program string   // path of the program
	Env     []string // NAME=VALUE, such as PATH
	Dir     string   // the package's folder
}

// Compare compares a makefile's command lines with hexmage's command lines for the package. It returns one result per
// target.
func Compare(ctx context.Context, m Make, makefile string, p oppackage.Package,
	arches []oppackage.Arch) ([]Target, error) {
	text, err := boundedfile.Read(makefile, maxMakefile)
	if err != nil {
		return nil, err
	}
	var table struct {
		Known []known `hcl:"difference,block"`
	}
	if err := hclsimple.Decode("differences.hcl", differencesFile, nil, &table); err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "hexmage-make-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	s, err := newSDKs(root, text)
	if err != nil {
		return nil, err
	}
	var out []Target
	for _, a := range arches {
		theirs, err := m.lines(ctx, makefile, s, a.Target)
		if errors.Is(err, errNoTarget) {
			out = append(out, Target{Target: a.Target, Missing: true})
			continue
		}
		if err != nil {
			return nil, err
		}
		compiles, link := oppackage.Lines(a, p, s.roots())
		ours := [][]string{link.Args}
		for _, c := range compiles {
			ours = append(ours, c.Args)
		}
		out = append(out, compare(a.Target, s.parse(ours), s.parse(theirs), table.Known))
	}
	return out, nil
}

// compare compares line by line, and groups the differences by word.
func compare(target string, ours, theirs map[string]map[string]bool, all []known) Target {
	t := Target{Target: target}
	at := map[[2]string][]string{} // lines by side and word
	only := func(side, line string, words, others map[string]bool) {
		for w := range words {
			if !others[w] {
				at[[2]string{side, w}] = append(at[[2]string{side, w}], line)
			}
		}
	}
	whole := func(line string) map[string]bool { return map[string]bool{"line " + line: true} }
	for line, mine := range ours {
		yours, ok := theirs[line]
		if !ok {
			only("ours", line, whole(line), nil)
			continue
		}
		if line != "link" {
			t.Compiles++
		}
		for w := range mine {
			if yours[w] {
				t.Same++
			}
		}
		only("ours", line, mine, yours)
		only("theirs", line, yours, mine)
	}
	for line := range theirs {
		if ours[line] == nil {
			only("theirs", line, whole(line), nil)
		}
	}
	for of, lines := range at {
		slices.Sort(lines)
		d := Difference{Side: of[0], Word: of[1], Lines: lines}
		if i := slices.IndexFunc(all, func(k known) bool { return k.explains(target, d) }); i >= 0 {
			d.Reason = all[i].Reason
		}
		t.Differences = append(t.Differences, d)
	}
	slices.SortFunc(t.Differences, func(a, b Difference) int {
		return strings.Compare(a.Side+" "+a.Word, b.Side+" "+b.Word)
	})
	return t
}

// Write prints the comparison as text.
func Write(w io.Writer, targets []Target) error {
	for i, t := range targets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if t.Missing {
			fmt.Fprintf(w, "%s: the other makefile lacks this target\n", t.Target)
			continue
		}
		fmt.Fprintf(w, "%s: %d compilations and the link, %d words equal, %d different, %d of these without a reason\n",
			t.Target, t.Compiles, t.Same, len(t.Differences), t.Unexplained())
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, d := range t.Differences {
			where, reason, sign := strings.Join(d.Lines, " "), d.Reason, "+"
			switch {
			case len(d.Lines) == t.Compiles && !slices.Contains(d.Lines, "link"):
				where = "all sources"
			case len(d.Lines) > 2:
				where = fmt.Sprintf("%d sources", len(d.Lines))
			}
			if reason == "" {
				reason = "NOT INTENDED"
			}
			if d.Side == "theirs" {
				sign = "-"
			}
			fmt.Fprintf(tw, "  %s %s\t%s\t%s\n", sign, d.Word, where, reason)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// sdks are empty folders that look like SDKs to a makefile.
type sdks struct {
	qairt, hexagon, ndk string
	variables           []string // roots for one target, such as HEXAGON_SDK_ROOT_V79
}

var (
	versions   = lazyregexp.New(`(?m)^\s*HEXAGON_TOOLS_VERSION_?\w*\s*[:?]?=\s*([0-9][0-9A-Za-z.]*)\s*$`)
	targetRoot = lazyregexp.New(`HEXAGON_SDK_ROOT_[A-Z0-9]+`)
	toolsDir   = lazyregexp.New(`\$\(HEXAGON\)/tools/HEXAGON_Tools/[^/\s]+/Tools`)
)

// newestTools is a version that the Hexagon SDK has beside those that a makefile names.
const newestTools = "19.0.04"

// newSDKs makes the folders below root. Some makefiles read the version of the Hexagon SDK from its folder's name.
func newSDKs(root string, makefile []byte) (sdks, error) {
	s := sdks{qairt: filepath.Join(root, "qairt"), hexagon: filepath.Join(root, "6.4.0.2"), ndk: filepath.Join(root, "ndk")}
	for _, name := range targetRoot.Get().FindAll(makefile, 100) {
		s.variables = append(s.variables, string(name))
	}
	slices.Sort(s.variables)
	s.variables = slices.Compact(s.variables)
	files := []string{s.qairt + "/include/QNN/QnnSdkBuildId.h", s.qairt + "/lib/aarch64-android/libQnnHtp.so",
		s.ndk + "/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++"}
	for _, m := range append(versions.Get().FindAllSubmatch(makefile, 100), [][]byte{nil, []byte(newestTools)}) {
		at := s.hexagon + "/tools/HEXAGON_Tools/" + string(m[1]) + "/Tools"
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

func (s sdks) roots() oppackage.Roots {
	return oppackage.Roots{QAIRT: s.qairt, Hexagon: s.hexagon, Tools: newestTools, NDK: s.ndk}
}

// name replaces paths of SDKs by variables.
func (s sdks) name(word string) string {
	word = strings.NewReplacer(s.qairt, "$(QAIRT)", s.hexagon, "$(HEXAGON)", s.ndk, "$(NDK)").Replace(word)
	return toolsDir.ReplaceAllString(word, "$$(TOOLS)")
}

// parse returns the words of compilers' lines by source, or "link".
func (s sdks) parse(lines [][]string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, words := range lines {
		named := make([]string, len(words))
		for i, w := range words {
			named[i] = s.name(w)
		}
		if line, words := parse(named); line != "" {
			out[line] = words
		}
	}
	return out
}

var errNoTarget = errors.New("the makefile lacks the target")

// lines returns the words of the lines that `make -n` prints for a target, in order.
func (m Make) lines(ctx context.Context, makefile string, s sdks, target string) ([][]string, error) {
	args := []string{"-n", "-B", "--no-print-directory", "-C", m.Dir, "-f", makefile, target}
	for _, name := range s.variables {
		args = append(args, name+"="+s.hexagon)
	}
	cmd := exec.CommandContext(ctx, m.Program, args...)
	cmd.Env = append([]string{"LC_ALL=C", "QAIRT_SDK_ROOT=" + s.qairt, "QNN_SDK_ROOT=" + s.qairt,
		"HEXAGON_SDK_ROOT=" + s.hexagon, "ANDROID_NDK_ROOT=" + s.ndk, "ANDROID_NDK_PATH=" + s.ndk}, m.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(errs.String())
		if strings.Contains(text, "No rule to make target '"+target+"'") {
			return nil, errNoTarget
		}
		return nil, fmt.Errorf("make -n -f %s %s: %w\n%.2000s", makefile, target, err, text)
	}
	var all [][]string
	for line := range strings.Lines(strings.ReplaceAll(out.String(), "\\\n", "")) {
		if words, ok := Words(line); ok { // the others are text that a recipe prints
			all = append(all, words)
		}
	}
	return all, nil
}
