package config

import (
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Rest has the steps of a pipeline's large files that are not read yet, in the order of the files. What HCL makes of a step takes some ten times the memory
// that its plan does: who plans steps as they are read never has all of that.
type Rest struct {
	parts  []*part // of steps alone, as it looks
	blocks int     // that were read
}

// Open is Load, but for steps of large files, which Pipeline.Rest reads.
func Open(fsys fs.FS, name string, find Finder) (*Pipeline, hcl.Diagnostics) {
	rest := new(Rest)
	p, diags := load(fsys, name, find, rest)
	if len(rest.parts) > 0 {
		p.Rest = rest
	}
	return p, diags
}

// take takes parts out of a file, which is large, that have nothing but steps as far as their lines tell, and returns the file with the others. It returns nil,
// and takes nothing, when the file has to be parsed whole.
func (r *Rest) take(src, name string) *hcl.File {
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	var steps []*part
	start := hcl.InitialPos
	for start.Byte < len(src) {
		p := nextPart(src, name, &start, partSize)
		p.brief = true
		if onlySteps(p.src) {
			steps = append(steps, p)
			continue
		}
		if p.parse(); len(p.addTo(body)) > 0 {
			return nil
		}
	}
	if len(steps) == 0 {
		return nil
	}
	r.parts = append(r.parts, steps...)
	return &hcl.File{Body: body, Nav: navigation{body}}
}

// onlySteps says whether all lines that look like headers of blocks are those of steps, and there are some.
func onlySteps(src string) bool {
	found := false
	for line := range strings.Lines(src) {
		switch {
		case strings.HasPrefix(line, `step "`):
			found = true
		case isHeader(line):
			return false
		}
	}
	return found
}

// Next reads some more of the steps, and calls each, for several at once, with what was parsed before it makes blocks of it, where there are more than constants,
// references, and lists of these. It returns none when all are read.
// It is not ok when the files have to be read whole: something in them is wrong, or is no step.
func (r *Rest) Next(each func(hcl.Body)) (steps []*Block, ok bool) {
	n := min(len(r.parts), 8*runtime.GOMAXPROCS(0))
	parts := r.parts[:n]
	r.parts = r.parts[n:]
	blocks := make([][]*Block, n)
	var all sync.WaitGroup
	for i, p := range parts {
		all.Go(func() { blocks[i] = p.steps(each) })
	}
	all.Wait()
	for _, b := range blocks {
		if b == nil {
			return nil, false
		}
		steps = append(steps, b...)
	}
	r.blocks += len(steps)
	return steps, r.blocks <= maxBlocks
}

// steps returns the steps of a part; nil if something is wrong, or something is no step.
func (p *part) steps(each func(hcl.Body)) []*Block {
	p.parse()
	if p.file == nil || len(p.diags) > 0 {
		return nil
	}
	body := p.file.Body.(*hclsyntax.Body)
	p.file = nil
	if len(body.Attributes) > 0 {
		return nil
	}
	if !p.written {
		each(body)
	}
	b := &builder{pipeline: true, written: p.written}
	all := make([]*Block, 0, len(body.Blocks))
	for _, blk := range body.Blocks {
		if blk.Type != "step" || len(blk.Labels) != 2 {
			return nil
		}
		hb := blk.AsHCLBlock()
		s, diags := b.stepBlock(hb)
		if len(diags) > 0 || len(b.checkLabels(hb)) > 0 {
			return nil
		}
		all = append(all, s)
	}
	return all
}
