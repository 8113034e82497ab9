// Package sources gets one thing from outside into a folder, as a built-in tool: `hexmage tool fetch`.
//
//	Spec, written at plan time ─► Run, Fetch, Learn
//	   archive, file   addresses ─► internal/fetch, all of it or parts of a zip ─┐
//	   maven           coordinates ─► maven: addresses ─► the same               │
//	   a wheel         name, version ─► pypi: an index's address ─► the same     │
//	   deb             names ─► deb: the distribution's own client               ├─► unpack ─► the tree
//	   vendor          product ─► qpm: Qualcomm's own clients                  ┘
//	   programs        of this machine: scripts that start them, or copies ─────────────────► the tree
//	   check           of a tree that is there ─► toolchains/verify ────────────────────────► a report
//
// Sources at a commit are a tool of their own, package git. There is the whole result afterwards, with the digests that the spec has, or
// nothing; what was downloaded is kept for the next try. The package decides nothing: which release, which source and which pins are settled
// before. It does not know the catalogue, nor what an archive becomes (package unpack).
package sources

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Tool is the tool's name, and its behaviour version: it changes when the same spec would give another result.
const Tool tool.Name[Spec] = "fetch/1"

// The kinds of a Spec.
const (
	KindArchive  = "archive"  // an archive from URLs, or the one in File
	KindVendor   = "vendor"   // a product that Qualcomm's own client gets
	KindFile     = "file"     // a single file from URLs
	KindDeb      = "deb"      // packages of the distribution
	KindPrograms = "programs" // programs of this machine, as small scripts that start them
	KindCheck    = "check"    // a tree that is there already: only Verify, into a report
)

// Spec says what to get.
type Spec struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"` // for people: "qairt 2.41.0.251128"
	Release string `json:"release,omitempty"`
	License string `json:"license,omitempty"` // printed after a download

	URLs      []string `json:"urls,omitempty"` // https, http or file; tried in order
	File      string   `json:"file,omitempty"` // path of an archive that is there already
	Size      int64    `json:"size,omitempty"` // bytes; 0 is not known
	SHA256    string   `json:"sha256,omitempty"`
	SHA1      string   `json:"sha1,omitempty"`
	MD5       string   `json:"md5,omitempty"`
	UserAgent string   `json:"user_agent,omitempty"`
	Parts     bool     `json:"parts,omitempty"`    // of a zip: read only the members that Only names, where the server can
	Tree      string   `json:"tree,omitempty"`     // the unpack.Digest of what is unpacked; checked when given
	Sidecars  []string `json:"sidecars,omitempty"` // what to put after the address for a file with its digest: ".sha256"
	Headers   []Header `json:"headers,omitempty"`
	Vendor    *Vendor  `json:"vendor,omitempty"`

	Wheel *pypi.Wheel        `json:"wheel,omitempty"` // of KindArchive and KindFile: in place of URLs
	Maven *maven.Coordinates `json:"maven,omitempty"` // likewise: of the repositories that the machine's own configuration names

	Packages []deb.Package `json:"packages,omitempty"`
	// Architecture is what the packages are for, where that is not this machine.
	Architecture string `json:"architecture,omitempty"`
	// Suite is the suite that has them, where that is none of this machine's.
	Suite string `json:"suite,omitempty"`

	Programs   []Program `json:"programs,omitempty"`   // of KindPrograms
	Host       []string  `json:"host,omitempty"`       // of KindPrograms: folders of this machine that they need
	Executable bool      `json:"executable,omitempty"` // of KindFile

	unpack.Layout // what becomes of it

	Out string `json:"out,omitempty"` // path to make; set by who runs the tool
}

// Header is a line of a request that holds a secret. The spec names the variable that holds it: its value is in no file,
// key or log.
type Header struct {
	Name     string   `arg:"name,label" hcl:"name,label" json:"name"` // "Authorization"
	Variable string   `arg:"variable,required" hcl:"variable" json:"variable"`
	Prefix   string   `arg:"prefix" hcl:"prefix,optional" json:"prefix,omitempty"` // "Bearer "
	Hosts    []string `arg:"hosts" hcl:"hosts,optional" json:"hosts,omitempty"`    // that it is sent to; none: that of the first of URLs
}

// Vendor is a product that a client of Qualcomm gets.
type Vendor struct {
	Client string `json:"client"` // "qpm" or "qsc"
	qpm.Product
}

// Program is a program of this machine. Identity says which one it was at plan time; it only makes the spec differ when
// the program does.
type Program struct {
	Path     string `json:"path"`   // in the tree
	Target   string `json:"target"` // absolute path on this machine
	Identity string `json:"identity"`
	Copy     bool   `json:"copy,omitempty"` // the file itself, not a script that starts it
	Venv     bool   `json:"venv,omitempty"` // of a Python that is copied: with a file that says where its library is, and that it takes no packages from there
}

// Download is how much has to be downloaded, in bytes; 0 where it is not known, and where all is on this machine. What the folder of downloads has of
// earlier runs, under its digest and with the right size, is there: it was compared when it came, and is again before it is used.
func (s Spec) Download(downloads string) int64 {
	left := func(kept string, size int64) int64 {
		if keeps(kept, size) {
			return 0
		}
		return size
	}
	switch {
	case s.File != "" || s.Parts:
		return 0
	case s.Kind == KindDeb:
		client := deb.Client{Dir: filepath.Join(downloads, "deb")}
		var n int64
		for _, p := range s.Packages {
			n += left(client.Downloaded(p.SHA256), p.Size)
		}
		return n
	case !s.filePinned():
		return s.Size
	}
	return left(filepath.Join(downloads, keptName(s)), s.Size)
}

// keeps tells whether the file of a download is there; one of size 0 may have any.
func keeps(name string, size int64) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (size == 0 || info.Size() == size)
}

// Pinned tells whether the result is fixed by digests.
func (s Spec) Pinned() bool {
	switch s.Kind {
	case KindDeb:
		for _, p := range s.Packages {
			if p.SHA256 == "" {
				return false
			}
		}
		return len(s.Packages) > 0
	case KindPrograms, KindCheck:
		return true
	case KindVendor:
		return s.Tree != "" || s.Vendor != nil && s.Vendor.Client == "qsc" && s.SHA256 != ""
	}
	if s.Tree != "" && s.Kind == KindArchive {
		return true
	}
	if s.Parts {
		return false // an archive's digest says nothing of some of its members
	}
	return s.SHA256 != "" || s.SHA1 != "" || s.MD5 != ""
}

// pins refuses a spec whose result is not fixed.
func (s Spec) pins() error {
	if !s.Pinned() && !(s.File != "" && s.Kind == KindArchive) {
		return fmt.Errorf("%s has no digest, so it is not fetched: run `hexmage lock` to pin it", s.Name)
	}
	return nil
}

func (s Spec) check() error {
	if err := s.Layout.Check(); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, p := range s.Programs {
		if !unpack.Local(p.Path) {
			return fmt.Errorf("%s: path %q leaves the tree", s.Name, p.Path)
		}
	}
	if s.Parts && len(s.Only) == 0 {
		return fmt.Errorf("%s: parts of an archive, and it does not say which: name them with only", s.Name)
	}
	switch s.Kind {
	case KindArchive, KindFile:
		switch {
		case s.Wheel != nil:
			if err := s.Wheel.Check(); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		case s.Maven == nil && len(s.URLs) == 0 && s.File == "":
			return fmt.Errorf("%s: neither URLs nor a file", s.Name)
		}
	case KindVendor:
		if s.Vendor == nil || s.Vendor.Client != "qpm" && s.Vendor.Client != "qsc" || s.Vendor.Name == "" || s.Vendor.Version == "" {
			return fmt.Errorf("%s: it does not say which of Qualcomm's products it is", s.Name)
		}
	case KindDeb, KindPrograms, KindCheck:
	default:
		return fmt.Errorf("%s: kind %q is not known", s.Name, s.Kind)
	}
	return nil
}
