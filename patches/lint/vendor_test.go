package lint_test

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/patches/lint"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestVendorsNames holds what is said of methods of tensors to the vendor's own libraries of two releases, newer than all that came or went: no library
// exports a method that is gone, and each exports those that came.
func TestVendorsNames(t *testing.T) {
	data, err := lint.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	older, newer := filepath.Join(toolchaintest.Root(t, "qnnruntime"), "qnnruntime/.libs"), filepath.Join(toolchaintest.Root(t, "htp_linux_arm64"), "onnxruntime_qnn")
	for _, at := range []string{older + "/libQnnHtpPrepare.so", older + "/hexagon-v79/unsigned/libQnnHtpV79Skel.so", newer + "/libQnnHtpPrepare.so", newer + "/libQnnHtpV79Skel.so"} {
		f, err := elf.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.DynamicSymbols()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		var exported strings.Builder
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				fmt.Fprintln(&exported, s.Name)
			}
		}
		asked := 0
		for there, changes := range map[bool][]lint.Change{false: data.Removed, true: data.Added} {
			for _, c := range changes {
				if c.Kind != "method" {
					continue
				}
				for _, name := range c.Names {
					asked++
					// A method of a tensor's class, or of one of its templates, as C++ writes it in a symbol.
					mangled := regexp.MustCompile(fmt.Sprintf(`(?m)^_ZNK?\d+\w*Tensor.*\D%d%sE`, len(name), name))
					if mangled.MatchString(exported.String()) != there {
						t.Errorf("%s: %s is exported: %v", filepath.Base(at), name, !there)
					}
				}
			}
		}
		if asked < 10 {
			t.Errorf("%d names were asked for", asked)
		}
	}
}
