package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
)

// failed is what --json prints of a file that can't be described.
type failed struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Run is the tool "inspect": it describes the FILEs, as text or with --json as one JSON object per line. Of a folder that is no
// SDK it describes the files that it knows. Exit codes: 0 ok, 1 some could not be described, 2 usage.
func Run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("inspect", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print JSON")
	dir := flags.String("dir", "", "folder that the FILEs are relative to")
	var files []string
	var only []string
	if i := slices.Index(args, "--"); i >= 0 { // what follows are files, whatever they are called
		args, only = args[:i], args[i+1:]
	}
	for rest := args; len(rest) > 0; { // flags may follow files
		if err := flags.Parse(rest); err != nil {
			return 2
		}
		rest = flags.Args()
		if len(rest) > 0 {
			files, rest = append(files, rest[0]), rest[1:]
		}
	}
	if files = append(files, only...); len(files) == 0 {
		fmt.Fprintln(stderr, "inspect: which FILE?")
		return 2
	}
	p := printer{out: stdout, err: stderr, json: *asJSON, dir: *dir}
	for _, path := range files {
		if ctx.Err() != nil {
			return 1
		}
		p.path(ctx, path)
	}
	return p.code
}

// printer prints descriptions, with an empty line between those for people.
type printer struct {
	out, err io.Writer
	json     bool
	dir      string
	some     bool
	code     int
}

func (p *printer) path(ctx context.Context, path string) {
	place := path
	if p.dir != "" && !filepath.IsAbs(path) {
		place = filepath.Join(p.dir, path)
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

func (p *printer) failed(path string, err error) {
	p.code = 1
	if p.json {
		_ = json.NewEncoder(p.out).Encode(failed{path, err.Error()})
		return
	}
	fmt.Fprintf(p.err, "inspect: %v\n", err)
}

func (p *printer) description(d Description) {
	var err error
	if p.json {
		err = json.NewEncoder(p.out).Encode(d)
	} else {
		if p.some {
			fmt.Fprintln(p.out)
		}
		_, err = io.WriteString(p.out, d.String())
	}
	p.some = true
	if err != nil {
		p.code = 1
	}
}
