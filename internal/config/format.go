package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// FormatFiles formats the named files, and all *.hcl files below the named folders. It returns the sorted names of the
// files that were not in canonical layout. If check is true, it changes no file. Otherwise it replaces each file
// atomically.
func FormatFiles(names []string, check bool) (changed []string, diags hcl.Diagnostics, err error) {
	files, err := formatted(names)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range files {
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

func formatted(names []string) ([]string, error) {
	seen := make(map[string]bool)
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != name && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case d.Type().IsRegular() && (path == name || strings.HasSuffix(path, ".hcl")):
				seen[path] = true
			}
			return nil
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("format: %s does not exist", name)
		}
		if err != nil {
			return nil, fmt.Errorf("format: %w", err)
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}
