package toolchains

import (
	"cmp"
	"errors"
	"strings"

	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
	"github.com/hexmage/hexmage/toolchains/unpack"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Toolchain is an SDK or tool, with its releases and their sources.
type Toolchain struct {
	*qnn.SDK            // its name, and facts that do not depend on the source
	Description  string `hcl:"description,optional"`
	DownloadPage string `hcl:"download_page,optional"` // page for manual downloads
	License      string `hcl:"license,optional"`       // license that users have to accept
	Default      string `hcl:"default,optional"`       // release for pipelines that name none

	Checks  *verify.Checks `hcl:"verify,block"`
	EnvVars []*EnvVar      `hcl:"env,block"`
	Pushes  []*PushSet     `hcl:"push_set,block"`
	// Sources holds sources for every release. A release's own source of the same kind inherits missing attributes.
	Sources  []*Source  `hcl:"source,block"`
	Releases []*Release // the releases in SDK, with sources

	file string // last file with the toolchain, for diagnostics
}

// EnvVar is a variable that the SDK's own environment script sets.
type EnvVar struct {
	Name    string `hcl:"name,label"`
	Value   string `hcl:"value"`            // with "${root}" (the SDK's root), "${tools}" (its folder of Hexagon tools), "${match}" (Pattern's match)
	Prepend bool   `hcl:"prepend,optional"` // put before the current list
	When    string `hcl:"when,optional"`    // pattern of paths below the root: applies only if one exists
	File    string `hcl:"file,optional"`    // path of a file below the root that contains the value
	Pattern string `hcl:"pattern,optional"` // regular expression with one group: applies only if it matches in File
}

// Release is one version of a toolchain with its sources.
type Release struct {
	*qnn.Release
	Note    string         `hcl:"note,optional"` // uncertain or important facts
	Checks  *verify.Checks `hcl:"verify,block"`  // checks in addition to the toolchain's
	Sources []*Source      `hcl:"source,block"`
}

// Source is one way to get a release.
type Source struct {
	Kind string `hcl:"kind,label"` // archive, deb, embedded, installed, manual, maven, pypi, python, qpm, qsc

	URLs        []string         `hcl:"urls,optional"` // mirrors, tried in order
	StripPrefix string           `hcl:"strip_prefix,optional"`
	Only        []string         `hcl:"only,optional"` // patterns of the files to use; none: all
	Size        int64            `hcl:"size,optional"` // in bytes
	SHA256      string           `hcl:"sha256,optional"`
	SHA1        string           `hcl:"sha1,optional"`
	MD5         string           `hcl:"md5,optional"`
	UserAgent   string           `hcl:"user_agent,optional"`
	CaseMatters bool             `hcl:"case_matters,optional"` // names in an archive for Linux may differ only in case
	Tree        string           `hcl:"tree,optional"`         // for qpm and qsc: digest of the tree
	Headers     []sources.Header `hcl:"header,block"`          // request headers that the servers need

	Packages     []string      `hcl:"packages,optional"`     // for deb: packages
	Architecture string        `hcl:"architecture,optional"` // for deb: Debian architecture of the packages; "": this machine's
	Suite        string        `hcl:"suite,optional"`        // for deb: suite of the packages, if this machine's suites lack them
	Links        []*Link       `hcl:"link,block"`
	Wraps        []unpack.Wrap `hcl:"wrap,block"`

	Env      []string   `hcl:"env,optional"`   // variables that may contain the path of an installed copy
	Paths    []string   `hcl:"paths,optional"` // usual paths of installed copies, with "${version}" and "~/"
	Named    bool       // whether the user set Paths; then a missing path is an error
	Programs []*Program `hcl:"program,block"` // for installed: programs of this machine that form the toolchain

	Steps string `hcl:"steps,optional"` // for manual: instructions for users

	Product string `hcl:"product,optional"` // for qpm and qsc: product name in Qualcomm's client

	Coordinates  string   `hcl:"coordinates,optional"`  // for maven: GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXTENSION]
	Repositories []string `hcl:"repositories,optional"` // for maven: roots of repositories, tried in order; none: those in Maven's own configuration

	Project string `hcl:"project,optional"` // for pypi: project name in the index
	Tags    string `hcl:"tags,optional"`    // for pypi: end of the file's name, python-abi-platform; "": none-any
	Index   string `hcl:"index,optional"`   // for pypi and python: address of an index; "": the indexes in pip's own configuration

	Python       string   `hcl:"python,optional"`        // for python: release of toolchain python
	Requirements []string `hcl:"requirements,optional"`  // for python: packages in pip's syntax
	Overrides    []string `hcl:"overrides,optional"`     // for python: requirements that replace those in package metadata
	ExcludeNewer string   `hcl:"exclude_newer,optional"` // for python: date; files uploaded on that day or later are ignored
}

// asked returns the request of a source of kind python.
func (s *Source) asked() python.Asked {
	return python.Asked{Python: python.Minor(s.Python), Requirements: s.Requirements, Overrides: s.Overrides,
		ExcludeNewer: s.ExcludeNewer, Index: s.Index}.Clean()
}

// Link is a symbolic link to add after unpacking.
type Link struct {
	Path string `hcl:"path,label"`
	To   string `hcl:"to"`
}

// Program is a program of this machine. It replaces a program of the toolchain.
type Program struct {
	Path  string   `hcl:"path,label"`    // path in the toolchain
	Names []string `hcl:"names"`         // names to look up in PATH, in order
	Copy  bool     `hcl:"copy,optional"` // whether to copy the file; needed by static programs that run where this machine's files are hidden
	Venv  bool     `hcl:"venv,optional"` // for a Python: whether to copy the file, so that it finds its own library, but no packages of this machine
}

// didYouMean returns ` (did you mean "x"?)` for the name in have that is closest to name, or "" if none is close. If
// name is the beginning of several, the last of them is the closest: "2.41" begins one release.
func didYouMean(name string, have []string) string {
	near := suggest.Name(name, have)
	for _, h := range have {
		if name != "" && strings.HasPrefix(h, name+".") {
			near = h
		}
	}
	if near == "" {
		return ""
	}
	return ` (did you mean "` + near + `"?)`
}

// check returns an error if the source lacks a required attribute.
func (s *Source) check() error {
	var err error
	needs := ""
	switch s.Kind {
	case "archive":
		if len(s.URLs) == 0 {
			needs = "urls"
		}
	case "deb":
		if len(s.Packages) == 0 {
			needs = "packages"
		}
	case "installed":
		if len(s.Env)+len(s.Paths)+len(s.Programs) == 0 {
			needs = "env, paths or program blocks"
		}
	case "pypi":
		if s.Project == "" {
			needs = "project, the name in the package index"
		} else {
			err = s.wheel("0").Check()
		}
	case "qpm", "qsc":
		if s.Product == "" {
			needs = "product, the name in Qualcomm's client"
		}
	case "maven":
		_, err = maven.Parse(s.Coordinates)
	case "python":
		err = s.asked().Check()
	case "embedded", "manual":
	default:
		err = errors.New("unknown kind; use archive, deb, embedded, installed, manual, maven, pypi, python, qpm or qsc")
	}
	if needs != "" {
		err = errors.New("missing " + needs)
	}
	return err
}

// wheel returns the wheel of a source of kind pypi.
func (s *Source) wheel(version string) pypi.Wheel {
	return pypi.Wheel{Project: s.Project, Version: version, Tags: cmp.Or(s.Tags, "none-any"), Index: s.Index}
}
