package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Machines says where the programs are, all as absolute paths.
type Machines struct {
	QemuHexagon string
	QemuAArch64 string
	Shell       string // the DSP's first program, package cdsp's
	Library     string // the op package for the arch
	Reference   string // the program with the ops' reference branches
	Arch        string // "v79"
}

// Run calls the ops on both machines. An error means that it could not be found out whether they agree; that they do not is in
// the results.
func Run(ctx context.Context, m Machines, cases []Case) ([]Result, error) {
	if err := Validate(cases); err != nil {
		return nil, err
	}
	var results []Result
	var d *dsp
	var h *phone
	defer func() {
		if d != nil {
			d.in.Close()
			_ = d.cmd.Wait()
		}
		if h != nil {
			h.in.Close()
			_ = h.cmd.Wait()
		}
	}()
	for i, c := range cases {
		seeds := c.Seeds
		if len(seeds) == 0 {
			seeds = []uint64{1}
		}
		for _, seed := range seeds {
			r := Result{Case: c.title(), Op: c.Op, Arch: m.Arch, Seed: seed}
			in := call{c: c}
			for k, t := range c.Inputs {
				data, err := t.fill(rand.New(rand.NewPCG(seed, uint64(i)<<16|uint64(k))))
				if err != nil {
					return nil, fmt.Errorf("case %s: input %d: %w", c.title(), k, err)
				}
				in.inputs = append(in.inputs, data)
			}
			var err error
			if h == nil {
				if h, err = startPhone(ctx, m.QemuAArch64, m.Reference); err != nil {
					return nil, err
				}
			}
			want, err := h.execute(in)
			if err != nil {
				if !errors.Is(err, errRefused) {
					h = nil
				}
				r.Failed = "the reference: " + err.Error()
				results = append(results, r)
				continue
			}
			if d == nil {
				if d, err = startDSP(ctx, m.QemuHexagon, m.Shell, m.Arch, m.Library); err != nil {
					return nil, fmt.Errorf("%s: %w", m.Arch, err)
				}
			}
			got, err := d.execute(in)
			if err != nil {
				r.Failed = d.name + ": " + err.Error()
				if strings.Contains(r.Failed, "no such op") {
					r.Failed += "; the library has " + strings.Join(d.ops, ", ")
				}
				if !errors.Is(err, errRefused) || strings.Contains(r.Failed, "0x8000040d") { // a fault has ended it
					_ = d.close()
					d = nil
				}
				results = append(results, r)
				continue
			}
			for o := range c.Outputs {
				r.compare(c, o, got[o], want[o])
			}
			results = append(results, r)
		}
	}
	return results, nil
}
