package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// failed is what --json prints of a file that can't be described.
type failed struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Printer prints descriptions, with an empty line between those for people.
type Printer struct {
	Out, Err io.Writer
	JSON     bool   // one object a line
	Dir      string // that paths are relative to

	some, failure bool
}

// Print describes files. Of a folder that is no SDK it describes the files that it knows. It tells whether all could be described.
func (p *Printer) Print(ctx context.Context, paths ...string) bool {
	for _, path := range paths {
		if ctx.Err() != nil {
			return false
		}
		p.path(ctx, path)
	}
	return !p.failure
}

func (p *Printer) path(ctx context.Context, path string) {
	place := path
	if p.Dir != "" && !filepath.IsAbs(path) {
		place = filepath.Join(p.Dir, path)
	}
	d, err := describe(place, path)
	if err != nil {
		p.failed(path, err)
		return
	}
	p.description(d)
	if d.Format != "folder" || d.Contents.SDK != nil {
		return
	}
	_ = filepath.WalkDir(place, func(name string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(place, name)
		if err != nil {
			return err
		}
		shown := filepath.Join(path, rel)
		switch d, err := describe(name, shown); {
		case err == nil:
			p.description(d)
		case !errors.Is(err, ErrUnknown):
			p.failed(shown, err)
		}
		return nil
	})
}

func (p *Printer) failed(path string, err error) {
	p.failure = true
	if p.JSON {
		_ = json.NewEncoder(p.Out).Encode(failed{path, err.Error()})
		return
	}
	fmt.Fprintf(p.Err, "inspect: %v\n", err)
}

func (p *Printer) description(d Description) {
	var err error
	if p.JSON {
		err = json.NewEncoder(p.Out).Encode(d)
	} else {
		if p.some {
			fmt.Fprintln(p.Out)
		}
		_, err = io.WriteString(p.Out, d.String())
	}
	p.some = true
	if err != nil {
		p.failure = true
	}
}
