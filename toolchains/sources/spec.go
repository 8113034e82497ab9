// Package sources implements the built-in tool `hexmage tool fetch`, which downloads an archive, file or product into a
// folder.
//
//	Spec, written at plan time ─► Run, Fetch, Learn:
//	   archive, file:  addresses ─► internal/fetch, all of it or parts of a zip ─┐
//	   maven:          coordinates ─► maven: addresses ─► internal/fetch         │
//	   a wheel:        name, version ─► pypi: address ─► internal/fetch          │
//	   deb:            names ─► deb: the distribution's own client               ├─► unpack ─► the tree
//	   vendor:         product ─► qpm: Qualcomm's own clients                    ┘
//	   programs:       of this machine: scripts that start them, or copies ─────────────────► the tree
//	   check:          of an existing tree ─► toolchains/verify ────────────────────────────► a report
//
// The tool writes the whole result with the spec's digests, or nothing. Downloads stay for the next try. The caller
// chooses the release, the source and the pins. The package does not know the catalog or the layout of an unpacked
// archive (package unpack). Package git has its own tool for sources at a commit.
package sources

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/toolchains/sources/deb"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// Tool is the name and version of the fetch tool. Raise the version whenever a spec's result changes.
const Tool tool.Name[Spec] = "fetch/1"

// Kinds of a Spec.
const (
	KindArchive  = "archive"  // an archive from URLs, or the one in File
	KindVendor   = "vendor"   // a product from one of Qualcomm's clients
	KindFile     = "file"     // a single file from URLs
	KindDeb      = "deb"      // packages of the Linux distribution
	KindPrograms = "programs" // scripts that start programs of this machine
	KindCheck    = "check"    // an existing tree: Verify writes a report
)

// Spec describes the download and its result.
type Spec struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"` // name in messages: "qairt 2.41.0.251128"
	Release string `json:"release,omitempty"`
	License string `json:"license,omitempty"` // license that the tool prints after a download

	URLs      []string `json:"urls,omitempty"` // https, http or file; tried in order
	File      string   `json:"file,omitempty"` // path of a local archive
	Size      int64    `json:"size,omitempty"` // in bytes; 0: unknown
	SHA256    string   `json:"sha256,omitempty"`
	SHA1      string   `json:"sha1,omitempty"`
	MD5       string   `json:"md5,omitempty"`
	UserAgent string   `json:"user_agent,omitempty"`
	Parts     *Parts   `json:"parts,omitempty"`    // for a zip: fetch only the members that Only selects, if the server supports ranges
	Tree      string   `json:"tree,omitempty"`     // unpack.Digest of the unpacked tree, checked if set
	Sidecars  []string `json:"sidecars,omitempty"` // suffixes that give the addresses of digest files: ".sha256"
	Headers   []Header `json:"headers,omitempty"`
	Vendor    *Vendor  `json:"vendor,omitempty"`

	Wheel *pypi.Wheel        `json:"wheel,omitempty"` // for KindArchive and KindFile: replaces URLs
	Maven *maven.Coordinates `json:"maven,omitempty"` // for KindArchive and KindFile: replaces URLs; uses the machine's repositories

	Packages []deb.Package `json:"packages,omitempty"`
	// Architecture is the packages' architecture. "" is this machine's.
	Architecture string `json:"architecture,omitempty"`
	// Suite is the packages' suite, if this machine's suites lack the packages.
	Suite string `json:"suite,omitempty"`

	Programs   []Program `json:"programs,omitempty"`   // for KindPrograms: programs
	Host       []string  `json:"host,omitempty"`       // for KindPrograms: folders of this machine that the programs need
	Executable bool      `json:"executable,omitempty"` // for KindFile: whether the file is executable

	unpack.Layout // layout of the result

	Out string `json:"out,omitempty"` // output path; the tool's caller sets it
}

// Parts identifies the zip members that the layout's Only selects.
type Parts struct {
	Directory string `json:"directory,omitempty"` // digest of the names, sizes, checksums and offsets of all members; "": unknown
	Size      int64  `json:"size,omitempty"`      // compressed bytes
}

// Header is a request header with a secret. It contains the variable's name, not its value, so the secret stays out of
// files, keys and logs.
type Header struct {
	Name     string   `arg:"name,label" hcl:"name,label" json:"name"` // "Authorization"
	Variable string   `arg:"variable,required" hcl:"variable" json:"variable"`
	Prefix   string   `arg:"prefix" hcl:"prefix,optional" json:"prefix,omitempty"` // "Bearer "
	Hosts    []string `arg:"hosts" hcl:"hosts,optional" json:"hosts,omitempty"`    // hosts that receive the header; none: the host of the first address in URLs
}

// Vendor identifies a product in one of Qualcomm's package managers.
type Vendor struct {
	Client string `json:"client"` // "qpm" or "qsc"
	qpm.Product
}

// Program is a program of this machine. If the program changes, its Identity changes, and therefore the spec.
type Program struct {
	Path     string `json:"path"`   // path in the tree
	Target   string `json:"target"` // absolute path on this machine
	Identity string `json:"identity"`
	Copy     bool   `json:"copy,omitempty"` // whether to copy the file instead of writing a start script
	Venv     bool   `json:"venv,omitempty"` // for a copied Python: whether to write a file that names its library and excludes the machine's packages
}

// Download returns the number of bytes to download, or 0 if the size is unknown or the file is on this machine.
//
// A file in the downloads folder counts as present if its name is the digest and its size matches. Only the later use
// compares the content's digest.
func (s Spec) Download(downloads string) int64 {
	left := func(kept string, size int64) int64 {
		if keeps(kept, size) {
			return 0
		}
		return size
	}
	switch {
	case s.File != "":
		return 0
	case s.Kind == KindDeb:
		client := deb.Client{Dir: filepath.Join(downloads, "deb")}
		var n int64
		for _, p := range s.Packages {
			n += left(client.Downloaded(p.SHA256), p.Size)
		}
		return n
	case s.Parts != nil:
		if keeps(filepath.Join(downloads, s.partsName()), s.Size) || s.filePinned() && keeps(filepath.Join(downloads, keptName(s)), s.Size) {
			return 0
		}
		return s.Parts.Size
	case !s.filePinned():
		return s.Size
	}
	return left(filepath.Join(downloads, keptName(s)), s.Size)
}

// Origin names the server or client of the download.
func (s Spec) Origin() string {
	switch {
	case s.Kind == KindDeb:
		return "the distribution's mirror"
	case s.Vendor != nil:
		return s.Vendor.Client + "-cli"
	case s.Wheel != nil:
		return "the package index"
	case s.Maven != nil:
		return "the Maven repositories"
	case len(s.URLs) == 0:
		return ""
	}
	u, err := url.Parse(s.URLs[0])
	if err != nil {
		return ""
	}
	return u.Host
}

// keeps reports whether the file of a download exists. With size 0 any size matches.
func keeps(name string, size int64) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (size == 0 || info.Size() == size)
}

// Pinned reports whether the spec's digests determine the result.
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
	if s.Parts != nil {
		return false // the archive's digest does not cover a part of its members
	}
	return s.SHA256 != "" || s.SHA1 != "" || s.MD5 != ""
}

// pins rejects a spec without a fixed result.
func (s Spec) pins() error {
	if !s.Pinned() && !(s.File != "" && s.Kind == KindArchive) {
		return fmt.Errorf("%s is not pinned; run `hexmage lock`", s.Name)
	}
	return nil
}

func (s Spec) check() error {
	if err := s.Layout.Check(); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, p := range s.Programs {
		if !unpack.Local(p.Path) {
			return fmt.Errorf("%s: path %q is outside the tree; use a relative path below the tree", s.Name, p.Path)
		}
	}
	if s.Parts != nil && len(s.Only) == 0 {
		return fmt.Errorf("%s: the request for parts of an archive lists no files; list the files in `only`", s.Name)
	}
	switch s.Kind {
	case KindArchive, KindFile:
		switch {
		case s.Wheel != nil:
			if err := s.Wheel.Check(); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		case s.Maven == nil && len(s.URLs) == 0 && s.File == "":
			return fmt.Errorf("%s: the request has neither URLs nor a file", s.Name)
		}
	case KindVendor:
		if s.Vendor == nil || s.Vendor.Client != "qpm" && s.Vendor.Client != "qsc" || s.Vendor.Name == "" || s.Vendor.Version == "" {
			return fmt.Errorf("%s: the request lacks Qualcomm's client, the product name or the version", s.Name)
		}
	case KindDeb, KindPrograms, KindCheck:
	default:
		return fmt.Errorf("%s: unknown kind %q", s.Name, s.Kind)
	}
	return nil
}
