package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/settings"
)

// askedRemote is what the chosen remote answers.
type askedRemote struct {
	*settings.Remote
	is    remote.Abilities
	err   error    // it does not answer, or not to this user
	lacks []string // that the block counts on
}

// askRemote asks the remote that the user wants what it can do; nil where there is none.
func (a *app) askRemote(ctx context.Context) (*askedRemote, error) {
	r, err := a.chosenRemote()
	if err != nil || r == nil {
		return nil, err
	}
	asked := &askedRemote{Remote: r}
	client, err := a.dial(r, func(string) {}) // the error has it
	if err != nil {
		asked.err = err
		return asked, nil
	}
	defer client.Close()
	if asked.is, asked.err = client.Abilities(ctx); asked.err != nil {
		return asked, ctx.Err()
	}
	if len(asked.is.Functions) == 0 {
		asked.lacks = append(asked.lacks, "it knows no digest function of ours")
	}
	if r.Execute && !asked.is.Executes {
		asked.lacks = append(asked.lacks, "it runs no actions, and the block has execute = true")
	}
	if r.Upload != settings.Never && !asked.is.Updates {
		asked.lacks = append(asked.lacks, fmt.Sprintf("it takes no results, and the block has upload = %q", r.Upload))
	}
	return asked, nil
}

// text says what it can do, or what is wrong.
func (r *askedRemote) text() string {
	if r.err != nil {
		return strings.TrimPrefix(strings.ReplaceAll(r.err.Error(), "\n", " "), remote.ErrOut.Error()+": ")
	}
	if len(r.lacks) > 0 {
		return r.Address + " answers, but " + strings.Join(r.lacks, "; ")
	}
	parts := []string{r.Address + " answers: " + functionNames(r.is.Functions)}
	if r.is.Largest > 0 {
		parts = append(parts, "blobs of up to "+bytesize.Decimal(r.is.Largest))
	}
	parts = append(parts, "batches of "+bytesize.Decimal(r.is.Batch))
	switch {
	case r.Execute:
		parts = append(parts, "actions run there")
	case r.is.Executes:
		parts = append(parts, "actions could run there (execute = true)")
	default:
		parts = append(parts, "a cache only")
	}
	return strings.Join(append(parts, fmt.Sprintf("upload %s", r.Upload)), "; ")
}

// next is what to do where it is of no use as it is.
func (r *askedRemote) next() string {
	if r.err == nil && len(r.lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("Correct remote %q in %s, or go without it: --remote off.", r.Name, r.File)
}
