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

	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var update = flag.Bool("update", false, "write the golden file")

// TestWheels: what is told of each library in the vendor's Python packages, for three systems, is in the golden file; and a catalog's digests are those of the
// skels beside it.
func TestWheels(t *testing.T) {
	var out strings.Builder
	for _, wheel := range []string{"onnxruntime_qnn-2.4.0-cp311-*_x86_64.whl", "onnxruntime_qnn-2.7.0-cp311-*_x86_64.whl", "onnxruntime_qnn-2.7.0-cp311-*_aarch64.whl",
		"onnxruntime_qnn-2.7.0-cp311-*win_arm64.whl", "qnnruntime-2.48.0.2-cp311-*_aarch64.whl"} {
		dir := toolchaintest.Wheel(t, "whether inspect is right on the vendor's own libraries", wheel)
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
func catalogMatches(t *testing.T, name string, c *inspect.Catalog) {
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
