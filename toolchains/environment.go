package toolchains

import (
	"cmp"
	"fmt"

	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// Environment is what an environment of Python's is made of. The interpreter is a release of toolchain python, which is its base, too: what packages
// that has, the environment has.
type Environment struct {
	Asked           python.Asked
	Interpreter, UV *Choice
	Wheels          []pypi.Wheel // as they are locked
}

// environment takes a source of kind python.
func (ch *Choice) environment(c *Catalogue, q Request, spec sources.Spec) (ok bool, reason string, err error) {
	e := &Environment{Asked: ch.Source.asked()}
	if err := e.Asked.Check(); err != nil {
		return false, "", err
	}
	// interpreters are real releases, whatever the pipeline's profile is
	find := Request{Profile: ProfileEmulator, Lock: q.Lock, Machine: q.Machine, Locking: q.Locking}
	find.Name, find.Version = "python", ch.Source.Python
	if e.Interpreter, err = c.Choose(find); err != nil {
		return false, "", fmt.Errorf("its interpreter: %w", err)
	}
	find.Name, find.Version = "uv", ""
	if e.UV, err = c.Choose(find); err != nil {
		return false, "", fmt.Errorf("what installs its packages: %w", err)
	}
	locked := q.Lock.Find(ch.Toolchain.Name, ch.Release.Version, "python")
	switch {
	case locked != nil && locked.Asked == e.Asked.Digest():
		e.Wheels = locked.Wheels
	case q.Locking:
	case locked != nil:
		return false, "", fmt.Errorf("%s has its packages as they were asked for before: run `hexmage lock`, which finds out what it needs now. Where two pipelines have "+
			"environments of this name, give one of them another", LockFile)
	default:
		return false, "", fmt.Errorf("its packages are not in %s: run `hexmage lock`, which finds out what it needs", LockFile)
	}
	ch.Packages, ch.Spec = e, spec
	return true, "", nil
}

// Contradicts tells whether two requests are for environments of one name and version that are made of other packages.
func (q Request) Contradicts(o Request) bool {
	version := func(q Request) string { return cmp.Or(q.Version, q.Own.Python) }
	return q.Own != nil && o.Own != nil && q.Name == o.Name && version(q) == version(o) && q.Own.asked().Digest() != o.Own.asked().Digest()
}

// WheelSpec is what gets a wheel of an environment.
func WheelSpec(w pypi.Wheel, index string) sources.Spec {
	s := sources.Spec{Kind: sources.KindFile, Name: w.Project + " " + w.Version, Size: w.Size, SHA256: w.SHA256,
		Wheel: &w}
	w.Index, w.Size, w.SHA256 = index, 0, ""
	return s
}

// Size is how much has to be downloaded for a choice, in bytes; 0 where it is not known.
func (ch *Choice) Size() int64 {
	size := ch.Spec.Size
	for _, p := range ch.Spec.Packages {
		size += p.Size
	}
	if e := ch.Packages; e != nil {
		size = e.UV.Size() + e.Interpreter.Size()
		for _, w := range e.Wheels {
			size += w.Size
		}
	}
	return size
}
