package lease

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/link"
)

// talkative is a device whose shell prints more than the lease's process.
type talkative struct{ link.Device }

func (talkative) Place() link.Place { return link.Place{Serial: "x", Folder: "/x"} }

func (talkative) Shell(_ context.Context, _ string, s link.Streams) (int, error) {
	in := bufio.NewReader(s.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprint(s.Stdout, "got\n", strings.Repeat("and more\n", 1000)); err != nil {
		return 0, err
	}
	_, err := in.ReadString('\n')
	return 0, err
}

// TestTalkative gives a device back at once that says more than it is asked for.
func TestTalkative(t *testing.T) {
	l, err := OnDevice(t.Context(), talkative{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if l.Release(); time.Since(begun) > endWait/2 {
		t.Errorf("after %v", time.Since(begun))
	}
}
