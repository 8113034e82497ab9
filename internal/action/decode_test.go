package action_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

func decoded(b, command []byte, fn digest.Function) (*action.Action, error) {
	a, at, err := action.DecodeAction(b, fn)
	if err != nil {
		return nil, err
	}
	if at != fn.Bytes(command) {
		return nil, cmpError(at.String())
	}
	a.Command, err = action.DecodeCommand(command)
	return a, err
}

type cmpError string

func (e cmpError) Error() string { return "the command is " + string(e) }

func TestActionRoundTrip(t *testing.T) {
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		a := sample()
		a.InputRoot, a.DoNotCache = fn.Bytes([]byte("in")), true
		e := a.Encode(fn)
		got, err := decoded(e.Action, e.Command, fn)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(a.Command.Outputs)
		a.Command.Outputs = slices.Compact(a.Command.Outputs)
		if d := cmp.Diff(a, got, cmpopts.IgnoreUnexported(action.Action{}),
			cmp.Comparer(func(a, b digest.Digest) bool { return a == b })); d != "" {
			t.Errorf("%v: %s", fn, d)
		}
	}
}

// What can be read is written again as the same action.
func FuzzDecodeAction(f *testing.F) {
	e := sample().Encode(digest.BLAKE3)
	f.Add(e.Action, e.Command)
	f.Add([]byte{1<<3 | 2, 0}, []byte{5<<3 | 2, 2, 1<<3 | 2, 0})
	f.Fuzz(func(t *testing.T, b, command []byte) {
		a, _, err := action.DecodeAction(b, digest.BLAKE3)
		if err != nil {
			return
		}
		if a.Command, err = action.DecodeCommand(command); err != nil {
			return
		}
		e := a.Encode(digest.BLAKE3)
		again, err := decoded(e.Action, e.Command, digest.BLAKE3)
		if err != nil {
			t.Fatalf("%+v cannot be read back: %v", a, err)
		}
		if again.Key(digest.BLAKE3) != e.Key {
			t.Fatalf("%+v comes back as %+v", a, again)
		}
	})
}
