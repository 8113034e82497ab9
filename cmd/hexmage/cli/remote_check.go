package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/settings"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// remoteFinding returns the answer of the user's remote, or its problem. It returns nothing without a remote.
func (a *app) remoteFinding(ctx context.Context) ([]doctor.Finding, error) {
	r, err := a.chosenRemote()
	if err != nil || r == nil {
		return nil, err
	}
	var is remote.Capabilities
	client, err := a.dial(r, func(string) {}) // the error has the text
	if err == nil {
		defer client.Close()
		is, err = client.Capabilities(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var lacks []string // missing features that the block needs
	if len(is.Functions) == 0 {
		lacks = append(lacks, "supports none of hexmage's digest functions")
	}
	if r.Execute && !is.Executes {
		lacks = append(lacks, "runs no actions, although the block sets execute = true")
	}
	if r.Upload != settings.Never && !is.Updates {
		lacks = append(lacks, fmt.Sprintf("accepts no results, although the block sets upload = %q", r.Upload))
	}
	f := doctor.Finding{Section: "remote", Name: r.Name, Status: doctor.Optional,
		Remedy: fmt.Sprintf("Correct remote %q in %s, or run with --remote off.", r.Name, r.File)}
	switch {
	case err != nil:
		f.Detail = strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), remote.ErrDisabled.Error()+": ")
		if r.Execute && r.Fallback == remote.FallbackFail { // without it a run fails
			f.Status = doctor.Missing
		}
	case len(lacks) > 0:
		f.Detail = r.Address + " answers, but " + strings.Join(lacks, "; ")
	default:
		f.Status, f.Remedy = doctor.OK, ""
		f.Detail = r.Address + " answers: " + functionNames(is.Functions)
		if is.Largest > 0 {
			f.Detail += "; blobs of up to " + bytesize.Decimal(is.Largest)
		}
		runs := "cache only"
		if r.Execute {
			runs = "runs actions"
		} else if is.Executes {
			runs = "can run actions if you set execute = true"
		}
		f.Detail += fmt.Sprintf("; batches of %s; %s; upload %s", bytesize.Decimal(is.Batch), runs, r.Upload)
	}
	return []doctor.Finding{f}, nil
}
