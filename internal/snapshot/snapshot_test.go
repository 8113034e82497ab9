package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/snapshot/snapshottest"
)

// fill sets every field of what v points to, down to a depth, to something that is not its zero, so that a field which the
// file does not have is noticed.
func fill(v reflect.Value, depth int, count *int) {
	*count++
	switch v.Type() {
	case reflect.TypeFor[digest.Digest]():
		v.Set(reflect.ValueOf(digest.BLAKE3.Bytes(fmt.Append(nil, *count))))
		return
	case reflect.TypeFor[action.Class](), reflect.TypeFor[plan.Waits]():
		v.SetUint(1)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("s", *count))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*count))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*count) % 200)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1, count)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), depth-1, count)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(k, depth-1, count)
			fill(e, depth-1, count)
			v.SetMapIndex(k, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth-1, count)
		}
	}
}

// inputs are one of each kind: an Input has only one of its pointers.
func inputs() []action.Input {
	return []action.Input{
		{Path: "a", Sub: "b/c", Shared: true, Artifact: &addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: "exec", Name: "gen"}, Key: "v12", Keyed: true}, Name: "o"}},
		{Path: "b", Spec: &action.SpecOutput{Spec: "x", Path: "y"}},
		{Path: "c", Host: &action.HostPath{Path: "src", Globs: []string{"*.c", "!x.c"}}},
		{Path: "d", Content: &action.Content{Data: []byte("data"), Executable: true}},
		{Path: "e", Content: &action.Content{Data: []byte{}}},
	}
}

func full(t testing.TB) *snapshottest.Build {
	var m snapshottest.Build
	count := 0
	fill(reflect.ValueOf(&m).Elem(), 12, &count)
	if count < 100 {
		t.Fatal("not much was filled in")
	}
	m.Fn, m.Title.Awaiting = digest.BLAKE3, []int{0, 1}
	for i := range m.Globs {
		m.Globs[i].Dirs = []int{1, 0}
	}
	for i := range m.Instances {
		n := &m.Instances[i]
		n.After, n.AwaitHosts, n.AwaitUnits = []int{0, 1}, []int{1}, []int{0, 1}
		n.Plan.Outputs = map[string]action.Artifact{"o": {Class: action.Tree, Parts: inputs()}, "p": {Class: action.File, Parts: inputs()[1:2]}}
		n.Plan.Specs, n.Plan.Await = nil, inputs()
		one, other := m.Instances[0].Plan.At, m.Instances[1].Plan.At
		all := addrs.Instance{Step: other.Step}
		n.Plan.Deps, n.Plan.After = []addrs.Instance{other, all, one, one, other, one}, []addrs.Instance{all, other}
	}
	for i := range m.Units {
		u := &m.Units[i]
		u.Instance, u.Hosts, u.Needs, u.Spec.Inputs = i, []int{0, 1}, []int{0}, inputs()
	}
	for i := range m.Outputs {
		m.Outputs[i].Plan.Artifact, m.Outputs[i].Hosts, m.Outputs[i].Units = inputs()[i], []int{i}, []int{1}
	}
	for i := range m.Checks {
		m.Checks[i].Hosts, m.Checks[i].Units = []int{i}, []int{1}
	}
	return &m
}

// read takes a whole snapshot apart.
func read(r *snapshot.Reader) (*snapshottest.Build, error) {
	m := &snapshottest.Build{Fn: r.Fn()}
	var errs [4]error
	m.Title, errs[0] = r.Title()
	m.Reads, errs[1] = r.Reads()
	m.Globs, errs[2] = r.Globs()
	m.Lookups, errs[3] = r.Lookups()
	err := errors.Join(errs[:]...)
	files := make([][]snapshot.File, r.Hosts())
	err = errors.Join(err, r.EachFile(func(host int, f snapshot.File) { files[host] = append(files[host], f) }))
	for i := range r.Hosts() {
		h, e := r.Host(i)
		if e == nil && !slices.Equal(h.Files, files[i]) {
			e = fmt.Errorf("host %d has %v and %v", i, h.Files, files[i])
		}
		m.Hosts = append(m.Hosts, h)
		err = errors.Join(err, e)
	}
	checks, cerr := r.Checks()
	m.Checks, err = checks, errors.Join(err, cerr)
	for i := range r.Outputs() {
		x, e := r.Output(i)
		name, e2 := r.OutputLinks(i)
		if e == nil && (e2 != nil || name.Plan.Name != x.Plan.Name || name.ID != x.ID || name.Plan.Show != x.Plan.Show) {
			e = fmt.Errorf("output %d is %v and %v, %v", i, x, name, e2)
		}
		m.Outputs = append(m.Outputs, x)
		err = errors.Join(err, e)
	}
	for i := range r.Instances() {
		n, e := r.Instance(i)
		at, e2 := r.At(i)
		if e == nil && (e2 != nil || at.Plan.At != n.Plan.At || !slices.Equal(at.After, n.After)) {
			e = fmt.Errorf("node %d is %v and %v, %v", i, n.Plan.At, at.Plan.At, e2)
		}
		m.Instances = append(m.Instances, n)
		err = errors.Join(err, e)
	}
	links := make([]snapshot.Unit, r.Units())
	err = errors.Join(err, r.EachLinks(func(i int, u *snapshot.Unit) {
		links[i] = snapshot.Unit{Instance: u.Instance, Always: u.Always, Hosts: slices.Clone(u.Hosts), Needs: slices.Clone(u.Needs)}
	}))
	for i := range r.Units() {
		u, e := r.Unit(i)
		result, e3 := r.Result(i)
		if e == nil && (e3 != nil || links[i].Instance != u.Instance || links[i].Always != u.Always || !slices.Equal(links[i].Hosts, u.Hosts) || !slices.Equal(links[i].Needs, u.Needs) || result.Key != u.Key || !reflect.DeepEqual(result.Outs, u.Outs)) {
			e = fmt.Errorf("unit %d differs from its parts: %v", i, e3)
		}
		m.Units = append(m.Units, u)
		err = errors.Join(err, e)
	}
	return m, err
}

// kept is what a snapshot says that was put at a path.
func kept(t *testing.T, path string) *snapshottest.Build {
	t.Helper()
	r, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	back, err := read(r)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestAllOfABuildIsKept(t *testing.T) {
	m := full(t)
	path := saved(t, m)
	if back := kept(t, path); !reflect.DeepEqual(back, m) {
		t.Errorf("read\n%+v\nwant\n%+v", back, m)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, m.Encode()) {
		t.Errorf("the file is not what Encode gives: %v", err)
	}
}

// Where much of a small snapshot changed, it is written anew.
func TestUpdate(t *testing.T) {
	m := full(t)
	path := saved(t, m)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Save(path, change(m, 1)); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || os.SameFile(before, after) {
		t.Errorf("it was added to: %v", err)
	}
	if back := kept(t, path); !reflect.DeepEqual(back, m) {
		t.Errorf("read\n%+v\nwant\n%+v", back, m)
	}
}

func TestNoSnapshot(t *testing.T) {
	if _, err := snapshot.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestDamage(t *testing.T) {
	b := full(t).Encode()
	for i := range b {
		for _, bit := range []byte{1, 0x80} {
			b[i] ^= bit
			if _, err := snapshot.Parse(b); err == nil {
				t.Fatalf("bit %#x of byte %d was flipped and nobody noticed", bit, i)
			}
			b[i] ^= bit
		}
	}
	for n := range b {
		if _, err := snapshot.Parse(b[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes and nobody noticed", n, len(b))
		}
	}
}
