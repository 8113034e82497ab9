package inspect_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var update = flag.Bool("update", false, "write the golden file")

// TestWheels compares the description of each library in Qualcomm's Python packages, for two systems, with the golden file.
func TestWheels(t *testing.T) {
	var out strings.Builder
	for _, wheel := range []string{"htp_host@2.4.0", "htp_host", "htp_linux_arm64", "qnnruntime"} {
		dir := toolchaintest.Root(t, wheel)
		fmt.Fprintf(&out, "%s\n", wheel)
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || filepath.Ext(name) != ".so" {
				return err
			}
			d := mustDescribe(t, filepath.Join(dir, name))
			headline := strings.Split(d.String(), "\n")[1]
			fmt.Fprintf(&out, "  %s:%s", name, strings.TrimPrefix(headline, " "))
			if d.ELF == nil {
				return fmt.Errorf("%s: %s", name, d.Format)
			}
			fmt.Fprintf(&out, " %v %v %v\n", d.ELF.BuildIDs, d.ELF.Versions, d.ELF.Entry)
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
