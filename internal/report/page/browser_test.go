package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch/fetchtest"
	"github.com/hexmage/hexmage/internal/history"
)

// modules are the packages of npm that the browser test takes.
func modules() []string { return []string{"playwright-core@1.65.1", "axe-core@4.14.1"} }

// browser returns node, a folder with modules, and Chromium. npm gets the modules, once for a user.
func browser(t *testing.T) (node, folder, chromium string) {
	t.Helper()
	lacks := func(what string) {
		t.Skipf("NOT TESTED: whether a browser shows the page without errors, by keyboard, and as people need it "+
			"who do not see well: this machine has no %s. Install nodejs, npm and chromium to run this test.", what)
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = at
		}
	}
	if chromium == "" {
		lacks("Chromium")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		lacks("npm")
	}
	if node, err = exec.LookPath("node"); err != nil {
		lacks("node")
	}
	folder = fetchtest.Folder(t, "npm-"+strings.Join(modules(), "-"), func(root string) error {
		tmp, err := os.MkdirTemp(filepath.Dir(root), "tmp-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		cmd := exec.CommandContext(t.Context(), npm,
			append([]string{"install", "--no-save", "--ignore-scripts", "--prefix", tmp}, modules()...)...)
		cmd.Dir = tmp
		if msg, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("npm install: %w\n%s", err, msg)
		}
		return os.Rename(tmp, root)
	})
	return node, folder, chromium
}

// seen is what testdata/browser.mjs says of a page, at one width and in one color scheme.
type seen struct {
	Width       int
	ColorScheme string
	Errors      []string
	Requests    []string
	Violations  []string
	Broken      []string // links
	Unreached   []string // by the Tab key
	Opened      int      // ms from the start of loading to the first picture
	Overflow    int      // pixels beyond the window
	Tabs        int
	Actions     int // lines of actions when the steps are open
	Visible     int // steps that the search leaves
	Found       string
	More        int // steps that the button adds
	Passes      int // of axe
}

// TestBrowser: Chromium shows the page, opened as a file, at two widths and in both color schemes, without an error
// or a request; all of it is reached by the keyboard; every link works; and axe has nothing to complain about.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: the page in a browser (-short)")
	}
	node, folder, chromium := browser(t)
	for _, c := range []struct {
		name                  string
		page                  *history.Document
		often, actions, added int
	}{
		{"whole", whole(), 3, 4, 0},
		{"10,000 actions", large(400, 25), 1, 25, 99}, // 300 are there from the start, and one was searched for
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "report.html")
			if err := os.WriteFile(file, write(t, c.page, earlier()), 0o644); err != nil {
				t.Fatal(err)
			}
			script, err := filepath.Abs(filepath.Join("testdata", "browser.mjs"))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), node, script, file, dir, chromium, strconv.Itoa(c.often))
			cmd.Env = append(os.Environ(), "NODE_MODULES="+folder)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var all []seen
			if err := json.Unmarshal(out, &all); err != nil || len(all) != c.often {
				t.Fatalf("%v: %s", err, out)
			}
			for _, s := range all {
				for what, list := range map[string][]string{"error": s.Errors, "request": s.Requests,
					"axe": s.Violations, "broken link": s.Broken, "not reached by the keyboard": s.Unreached} {
					for _, line := range list {
						t.Errorf("%d pixels, %s: %s: %s", s.Width, s.ColorScheme, what, line)
					}
				}
				if s.Overflow > 0 {
					t.Errorf("%d pixels: the page is %d pixels wider", s.Width, s.Overflow)
				}
				if s.Tabs < 20 || s.Passes < 10 {
					t.Errorf("%d pixels: %d places for the keyboard, %d rules of axe: too few to mean something",
						s.Width, s.Tabs, s.Passes)
				}
				if s.Actions < c.actions || s.Visible != 1 || s.Found != "1 step" || s.More != c.added {
					t.Errorf("%d pixels: %d lines of actions, %d steps after a search that says %q, %d more on "+
						"demand", s.Width, s.Actions, s.Visible, s.Found, s.More)
				}
			}
			for _, s := range all {
				t.Logf("%s, at %d pixels, %s: opened in %d ms", c.name, s.Width, s.ColorScheme, s.Opened)
				name := fmt.Sprintf("%d-%s-whole.png", s.Width, s.ColorScheme)
				if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 5000 {
					t.Errorf("the screenshot %s: %v", name, err)
				}
			}
		})
	}
}
