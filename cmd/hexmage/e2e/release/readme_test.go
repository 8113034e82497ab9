//go:build linux

package release_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestReadmePipeline: the pipeline that README.md shows is written as `fmt` writes it and builds what it says, in a
// workspace that holds nothing else but the sources it names.
func TestReadmePipeline(t *testing.T) {
	_, text, _ := strings.Cut(Read(t, filepath.Join(Repo(), "README.md")), "```hcl\n")
	text, _, found := strings.Cut(text, "```\n")
	if !found {
		t.Fatal("README.md shows no pipeline")
	}
	w := Warmed(t)
	for _, dir := range []string{"pipelines", "oppackage"} {
		if err := os.RemoveAll(filepath.Join(w.Dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(w.Dir, "src", "LLaMAPackage"),
		os.DirFS(filepath.Join(Repo(), "oppackage", "example", "LLaMAPackage"))); err != nil {
		t.Fatal(err)
	}
	w.Write(t, "pipelines/readme.hcl", text)
	Wants(t, w.Run(t, "fmt", "--check", "pipelines/readme.hcl"), 0)
	Wants(t, w.Run(t, "run", "--offline", "readme"), 0)
	for _, target := range []string{"htp_aarch64", "htp_v79"} {
		if lib := Read(t, filepath.Join(w.Dir, "out", "readme", "oppackage", target,
			Library)); !strings.HasPrefix(lib, "\x7fELF") {
			t.Errorf("%s: no library", target)
		}
	}
}

// TestReadmeRun runs the main job in its default profile, from an empty cache. README.md and its picture, docs/run.svg,
// show what it prints. The second run executes nothing.
// go test ./cmd/hexmage/e2e/release -run ReadmeRun -update draws that anew.
func TestReadmeRun(t *testing.T) {
	w := NewWorld(t).WithEmulatorDownloads(t).WithDownloads(t)
	o := w.Run(t, "run", Pipeline)
	Wants(t, o, ExitOK, "profile: emulator", "1620 of 1620", "tokens as the reference    32 of 32",
		"license of htp_host")
	if r := w.RunJSON(t, Pipeline); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	printed := o.Stderr + o.Stdout
	readme := Read(t, filepath.Join(Repo(), "README.md"))
	if lines := strings.Count(readme, "\n"); lines > 90 {
		t.Errorf("README.md has %d lines: 90 are what people read", lines)
	}
	_, text, _ := strings.Cut(readme, "$ go tool mage pipeline "+Pipeline+"\n")
	text, _, found := strings.Cut(text, "```\n")
	if !found || !shows(text, printed) {
		t.Errorf("README.md shows\n%s\nand it prints\n%s", text, printed)
	}
	picture := filepath.Join(Repo(), "docs", "run.svg")
	if Update() {
		if err := os.WriteFile(picture, []byte(drawn(printed)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var lines strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^<text[^>]*>(.*)</text>$`).FindAllStringSubmatch(Read(t, picture),
		-1) {
		lines.WriteString(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(line[1], "")) + "\n")
	}
	measured := regexp.MustCompile(`(?m)^  (reference|cpu|emulator)  .*\n`)
	if !shows(measured.ReplaceAllString(lines.String(), ""), measured.ReplaceAllString(printed, "")) {
		t.Errorf("docs/run.svg shows\n%s\nand it prints\n%s", &lines, printed)
	}
}

// drawn is what a terminal shows, as a picture.
func drawn(printed string) string {
	const left, line, width = 14, 17, 7.3 // of a character of 12 px
	lines := strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
	columns := 0
	var b strings.Builder
	for i, l := range lines {
		columns = max(columns, utf8.RuneCountInString(l))
		l = regexp.MustCompile(`^  (ok) `).ReplaceAllString(html.EscapeString(l), `  <tspan fill="#3fb950">$1</tspan> `)
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", left, (i+2)*line, l)
	}
	w, h := 2*left+int(float64(columns)*width), (len(lines)+2)*line
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]d\" height=\"%[2]d\" viewBox=\"0 0 "+
		"%[1]d %[2]d\" "+
		"font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"12\" "+
		"fill=\"#e6edf3\">\n"+
		"<title>a run of "+Pipeline+", as it was printed</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" "+
		"fill=\"#0d1117\"/>\n%[3]s</svg>\n", w, h, b.String())
}
