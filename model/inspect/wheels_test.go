package inspect_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn/catalogfile"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var update = flag.Bool("update", false, "write the golden file")

// TestWheels: what is told of each library in the vendor's Python packages, for three systems, is in the golden file; and a catalog's digests are those of the
// skels beside it.
func TestWheels(t *testing.T) {
	var out strings.Builder
	for _, wheel := range []string{"htp_host@2.4.0", "htp_host", "htp_linux_arm64", "htp_windows_arm64", "qnnruntime"} {
		dir := toolchaintest.Root(t, wheel)
		fmt.Fprintf(&out, "%s\n", wheel)
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !slices.Contains([]string{".so", ".dll", ".cat"}, filepath.Ext(name)) {
				return err
			}
			d := mustDescribe(t, filepath.Join(dir, name))
			headline := strings.Split(d.String(), "\n")[1]
			fmt.Fprintf(&out, "  %s:%s", name, strings.TrimPrefix(headline, " "))
			switch {
			case d.ELF != nil:
				fmt.Fprintf(&out, " %v %v %v", d.ELF.BuildIDs, d.ELF.Versions, d.ELF.Entry)
			case d.PE != nil:
				fmt.Fprintf(&out, " %v %v %s", d.PE.BuildIDs, d.PE.Versions, d.PE.Name)
			}
			fmt.Fprintln(&out)
			if d.Catalog != nil {
				catalogMatches(t, filepath.Join(dir, name), d.Catalog)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/wheels.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; run it with -update when that is right:\n%s", err, out.String())
	}
}

// catalogMatches compares a catalog with the files beside it that it names.
func catalogMatches(t *testing.T, name string, c *catalogfile.Catalog) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, e := range entries {
		for _, m := range c.Members {
			if !strings.EqualFold(m.Name, e.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(filepath.Dir(name), e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if sum := fmt.Sprintf("%x", sha256.Sum256(b)); sum != m.SHA256 {
				t.Errorf("%s: %s is %s, the catalog says %s", name, e.Name(), sum, m.SHA256)
			}
			same++
		}
	}
	if same == 0 {
		t.Errorf("%s names nothing beside it", name)
	}
}
