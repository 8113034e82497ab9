package toolchains

import (
	"cmp"
	"fmt"

	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// Environment holds the parts of a Python environment: the request, the interpreter, uv and the packages' wheels.
type Environment struct {
	Asked           python.Asked
	Interpreter, UV *Choice
	Wheels          []pypi.Wheel // wheels in the lock
}

// environment fills in the choice for a source of kind python.
func (ch *Choice) environment(c *Catalog, q Request, spec sources.Spec) (ok bool, reason string, err error) {
	e := &Environment{Asked: ch.Source.asked()}
	if err := e.Asked.Check(); err != nil {
		return false, "", err
	}
	// interpreters are real releases in every profile
	find := Request{Profile: ProfileEmulator, Lock: q.Lock, Machine: q.Machine, Locking: q.Locking}
	find.Name, find.Version = "python", ch.Source.Python
	if e.Interpreter, err = c.Choose(find); err != nil {
		return false, "", fmt.Errorf("interpreter: %w", err)
	}
	find.Name, find.Version = "uv", ""
	if e.UV, err = c.Choose(find); err != nil {
		return false, "", fmt.Errorf("package installer: %w", err)
	}
	locked := q.Lock.Find(ch.Toolchain.Name, ch.Release.Version, "python")
	switch {
	case locked != nil && locked.Asked == e.Asked.Digest():
		e.Wheels = locked.Wheels
	case q.Locking:
	case locked != nil:
		return false, "", fmt.Errorf("the packages pinned in %s do not match the requirements of this environment; run "+
			"`hexmage lock`. If two pipelines have different environments with this name, rename one", LockFile)
	default:
		return false, "", fmt.Errorf("%s does not pin the packages; run `hexmage lock`", LockFile)
	}
	ch.Packages, ch.Spec = e, spec
	return true, "", nil
}

// Contradicts reports whether both requests ask for the same environment and version, but with different packages.
func (q Request) Contradicts(o Request) bool {
	version := func(q Request) string { return cmp.Or(q.Version, q.Own.Python) }
	return q.Own != nil && o.Own != nil && q.Name == o.Name && version(q) == version(o) && q.Own.asked().Digest() != o.Own.asked().Digest()
}

// WheelSpec returns the spec that downloads a wheel of an environment.
func WheelSpec(w pypi.Wheel, index string) sources.Spec {
	s := sources.Spec{Kind: sources.KindFile, Name: w.Project + " " + w.Version, Size: w.Size, SHA256: w.SHA256,
		Wheel: &w}
	w.Index, w.Size, w.SHA256 = index, 0, ""
	return s
}

// Size returns the number of bytes to download for a choice, or 0 if the number is unknown.
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
