package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/rename"
)

var numbered = lazyregexp.New(`^(\d{4})-.*\.patch$`)

// Write adds the edits to a range's folder, made if it is not there: numbered *.patch files behind those that it has, and an entry
// for each in rules.hcl, with when if it is given. It returns the files' names. On an error the folder is as it was.
func Write(dir string, edits []Edit, when *rename.When) (names []string, err error) {
	made := false
	if err := os.Mkdir(dir, 0o777); err == nil {
		made = true
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	var written []string
	defer func() {
		if err == nil {
			return
		}
		for _, f := range written {
			os.Remove(f)
		}
		if made {
			os.Remove(dir)
		}
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	last := 0
	for _, e := range entries {
		if m := numbered.FindStringSubmatch(e.Name()); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, err
			}
			last = max(last, n)
		}
	}
	if last+len(edits) > 9999 {
		return nil, fmt.Errorf("%s has no number left below 9999", dir)
	}
	rules := filepath.Join(dir, "rules.hcl")
	old, err := os.ReadFile(rules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, diags := hclwrite.ParseConfig(old, rules, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, errors.Join(diags.Errs()...)
	}
	for i, e := range edits {
		name := fmt.Sprintf("%04d-%s.patch", last+1+i, slug(e.Title))
		if err := writeNew(filepath.Join(dir, name), e.Text); err != nil {
			return nil, err
		}
		written = append(written, filepath.Join(dir, name))
		names = append(names, name)
		if len(file.Body().Blocks()) > 0 {
			file.Body().AppendNewline()
		}
		b := file.Body().AppendNewBlock("patch", []string{name}).Body()
		b.SetAttributeValue("description", cty.StringVal(e.Title))
		if when != nil {
			b.AppendNewline()
			w := b.AppendNewBlock("when", nil).Body()
			w.SetAttributeValue("header", cty.StringVal(when.Header))
			if when.Lacks != "" {
				w.SetAttributeValue("lacks", cty.StringVal(when.Lacks))
			}
			if when.Declares != "" {
				w.SetAttributeValue("declares", cty.StringVal(when.Declares))
			}
		}
	}
	next := rules + ".hexmage-new"
	if err := writeNew(next, hclwrite.Format(file.Bytes())); err != nil {
		return nil, err
	}
	written = append(written, next)
	return names, os.Rename(next, rules)
}

func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
