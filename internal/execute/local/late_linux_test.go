package local_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
)

// What a command asked the supervisor for is done before the command counts as ended, also where the one that asked
// was killed meanwhile. Else the next action's inputs, which are links to the same blobs, are changed, or a file that
// is a blob by then.
func TestNothingIsDoneLate(t *testing.T) {
	p := newPlace(t, supervised(t), 1)
	p.inputs["big"] = strings.Repeat("large\n", 32<<20) // a change of its mode takes a copy
	type outcome struct {
		res *action.Result
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		res, err := p.run(t, "o", "(chmod 777 big) & until test -e $TMPDIR/end; do sleep 0.01; done; : > o")
		ended <- outcome{res, err}
	}()
	copies := func() []string {
		found, _ := filepath.Glob(filepath.Join(p.dir, "*", "copy-*"))
		return found
	}
	for deadline := time.Now().Add(time.Minute); len(copies()) == 0; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("no copy is made: there is nothing to see")
		}
	}
	write(t, filepath.Join(filepath.Dir(copies()[0]), "tmp", "end"), "")
	if o := <-ended; o.err != nil || o.res.ExitCode != 0 {
		t.Fatalf("%+v, %v", o.res, o.err)
	}
	if left := copies(); len(left) > 0 {
		t.Errorf("the command has ended, and there is still made %s", left)
	}
	res, err := p.run(t, "o", "for i in 1 2 3 4 5 6 7 8 9; do stat -c %a big; sleep 0.1; done; : > o")
	if err != nil || strings.Trim(string(res.Stdout), "4\n") != "" {
		t.Errorf("%+v, %v: the next action's input has other modes: %s", res, err, res.Stdout)
	}
	p.checkStore(t)
}
