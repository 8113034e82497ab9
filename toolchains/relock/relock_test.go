package relock_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/fetchtool"
	"github.com/hexmage/hexmage/toolchains/open"
	"github.com/hexmage/hexmage/toolchains/relock"
)

func TestUpdate(t *testing.T) {
	var b bytes.Buffer
	if err := open.Archive(&b, "mllm", ""); err != nil {
		t.Fatal(err)
	}
	requests := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { requests++; _, _ = w.Write(b.Bytes()) }))
	defer srv.Close()
	_, sum, err := open.Digest("mllm", "")
	if err != nil {
		t.Fatal(err)
	}
	c, diags := toolchains.Load(map[string][]byte{"x.hcl": []byte(`
toolchain "ours" {
  default = "1"
  release "1" {
    source "archive" {
      urls         = ["` + srv.URL + `/ours.zip"]
      strip_prefix = "mllm-open"
    }
  }
}
`)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	reqs := []toolchains.Request{{Name: "ours", Profile: "device"}, {Name: "qairt", Version: "2.42.0.251225", Profile: "device"}, {Name: "qairt", Profile: "open"}}
	l := &toolchains.Lock{}
	if errs := relock.Check(c, l, reqs); len(errs) != 2 || !strings.Contains(errs[0].Error(), "hexmage lock ours 1") || !strings.Contains(errs[1].Error(), "stand-in") {
		t.Errorf("Check before: %v", errs)
	}
	o := fetchtool.Options{Downloads: t.TempDir()}
	changes, err := relock.Update(t.Context(), c, l, reqs, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 3 || !changes[0].Changed || !strings.Contains(changes[0].Text, sum) || requests != 1 {
		t.Errorf("changes %+v, %d requests", changes, requests)
	}
	if e := l.Find("ours", "1", "archive"); e == nil || e.SHA256 != sum || e.Size != int64(b.Len()) {
		t.Errorf("entry %+v", e)
	}
	if e := l.Find("qairt", "2.42.0.251225", "archive"); e == nil || e.Size != 1543955191 {
		t.Errorf("entry %+v: a known digest is pinned without a download", e)
	}
	if e := l.Find("qairt", "2.41.0.251128", "embedded"); e == nil || e.Size == 0 || len(e.SHA256) != 64 {
		t.Errorf("entry %+v: a stand-in is pinned like a download", e)
	}
	if errs := relock.Check(c, l, reqs); len(errs) != 0 {
		t.Errorf("Check after: %v", errs)
	}
	// What was downloaded for the lock is there for the fetch.
	ch, err := c.Choose(toolchains.Request{Name: "ours", Profile: "device", Lock: l})
	if err != nil {
		t.Fatal(err)
	}
	o.Offline = true
	if err := fetchtool.Fetch(t.Context(), ch.Spec, t.TempDir()+"/out", o); err != nil {
		t.Errorf("fetch after lock, offline: %v", err)
	}
	o.Offline = false
	if changes, err = relock.Update(t.Context(), c, l, reqs[:1], o); err != nil || changes[0].Changed {
		t.Errorf("again: %+v, %v", changes, err)
	}
}
