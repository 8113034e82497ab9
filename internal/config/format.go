package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/lang"
)

// Format returns the file in canonical layout, with standard indentation, aligned equals signs and one final newline.
// If the file has syntax errors, Format returns it unchanged, with diagnostics.
func Format(src []byte, name string) ([]byte, hcl.Diagnostics) {
	if _, diags := lang.Parse(src, name); diags.HasErrors() {
		return src, diags
	}
	out := hclwrite.Format(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")))
	out = bytes.TrimRight(out, "\n")
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return out, nil
}

// FormatFiles formats the named files. It returns the names of the files that were not in canonical layout. If check is
// true, it changes no file. Otherwise it replaces each file atomically.
func FormatFiles(names []string, check bool) (changed []string, diags hcl.Diagnostics, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return changed, diags, fmt.Errorf("format: %w", err)
		}
		if info.Size() > lang.MaxSource {
			err := fmt.Errorf("format %s: the file has %d bytes; the limit is %d", name, info.Size(),
				lang.MaxSource)
			return changed, diags, err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return changed, diags, fmt.Errorf("format: %w", err)
		}
		out, ds := Format(src, name)
		diags = append(diags, ds...)
		if ds.HasErrors() || bytes.Equal(src, out) {
			continue
		}
		changed = append(changed, name)
		if !check {
			if err := atomicfile.WriteFile(filepath.Dir(name), name, out, info.Mode().Perm()); err != nil {
				return changed, diags, fmt.Errorf("format %s: %w", name, err)
			}
		}
	}
	return changed, diags, nil
}
