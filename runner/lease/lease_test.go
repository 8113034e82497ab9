package lease

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/transport"
)

// talkative is a device whose shell prints more than the lease's process.
type talkative struct{ transport.Device }

func (talkative) Place() transport.Place { return transport.Place{Serial: "x", Folder: "/x"} }

func (talkative) Shell(_ context.Context, _ string, s transport.Streams) (int, error) {
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

// TestTalkative: Release returns at once for a device that prints too much.
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
