package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hexmage/hexmage/internal/store/layout"
)

// random is a shell command that creates text files that compress by a quarter.
const random = "mkdir %s; for i in $(seq %d); do head -c %d /dev/urandom | base64 -w0 > %[1]s/$i; done"

// measureFiles hashes, stores and restores large files.
func (b *bench) measureFiles(ctx context.Context, dir string) {
	b.fail(os.CopyFS(dir, os.DirFS(b.dir+"/workspace")))
	b.must(ctx, b.shell(dir, "", fmt.Sprintf(random, "src", b.files, b.fileSize*3/4)))
	b.settle()
	cache, size := dir+"/cache", fmt.Sprintf("%.3g GB: ", float64(b.files*b.fileSize)/1e9)

	hash := &contestant{prepare: b.shell(dir, "", "rm -rf cache out"), program: b.command(dir, cache, "run", "hash")}
	root, err := b.fetch(ctx, "b3sum")
	b3sum := &contestant{name: "b3sum", budget: 1.5, missing: err}
	b3sum.program = b.shell(dir, root, root+"/usr/bin/b3sum src/*")
	b.compare(ctx, size+"hash sources", b.rounds, hash, b3sum)

	// The action copies the file, and hexmage copies the output to out/ and syncs the disk.
	store := &contestant{prepare: hash.prepare, program: b.command(dir, cache, "run", "copy")}
	twice := &contestant{name: "cp twice and sync", budget: 1.5, prepare: b.shell(dir, "", "rm -rf copied again")}
	twice.program = b.shell(dir, "", "cp -r src copied; cp -r copied again; sync -f again")
	b.compare(ctx, size+"store outputs", b.rounds, store, twice)

	restore := &contestant{prepare: b.shell(dir, "", "rm -rf out"), program: store.program}
	cp := &contestant{name: "cp", budget: 1.2, prepare: twice.prepare, program: b.shell(dir, "", "cp -r src copied")}
	b.compare(ctx, size+"restore outputs", b.rounds, restore, cp)
	b.must(ctx, b.shell(dir, "", "cmp src/1 out/copy/copies.0; rm -rf cache out copied src"))
	b.measureUnpack(ctx, dir, cache)
}

// measureUnpack unpacks a zip that hexmage downloaded earlier.
func (b *bench) measureUnpack(ctx context.Context, dir, cache string) {
	b.must(ctx, b.shell(dir, "", fmt.Sprintf(random, "content", 100*b.files, b.fileSize*3/4/200)))
	f, err := os.Create(dir + "/sdk.zip")
	z := zip.NewWriter(f)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 1) })
	b.fail(errors.Join(err, z.AddFS(os.DirFS(dir+"/content")), z.Close(), f.Close()))
	command := func(args ...string) program {
		p := b.command(dir, cache, append(args, "--profile=device")...) // its toolchains are not simulated
		p.env = append(p.env, "HEXMAGE_MIRRORS=https://sdk.invalid/=file://"+dir+"/")
		return p
	}
	b.must(ctx, command("lock", "sdk", "1"))
	hexmage := &contestant{program: command("toolchain", "fetch", "sdk")}
	empty := "mv $0 kept; rm -rf cache; mkdir -p $0; rmdir $0; mv kept $0"
	hexmage.prepare = b.plain(dir, "", "sh", "-ec", empty, layout.In(cache).Downloads())
	root, err := b.fetch(ctx, "bsdtar")
	bsdtar := &contestant{name: "bsdtar and sync", budget: 1.5, missing: err}
	bsdtar.prepare = b.shell(dir, "", "rm -rf unpacked; mkdir unpacked")
	bsdtar.program = b.shell(dir, root, root+"/usr/bin/bsdtar -xf sdk.zip -C unpacked; sync -f unpacked")
	b.compare(ctx, fmt.Sprintf("%.3g GB: unpack a zip", float64(b.files*b.fileSize)/2e9), b.rounds, hexmage, bsdtar)
}
