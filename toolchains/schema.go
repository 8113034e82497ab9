package toolchains

import (
	"cmp"
	"errors"
	"strings"

	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
	"github.com/hexmage/hexmage/toolchains/unpack"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Toolchain is an SDK or tool, with how its releases are had.
type Toolchain struct {
	*qnn.SDK            // its name, and what is true of it wherever it comes from
	Description  string `hcl:"description,optional"`
	DownloadPage string `hcl:"download_page,optional"` // where people get it by hand
	Licence      string `hcl:"licence,optional"`       // what has to be accepted
	Default      string `hcl:"default,optional"`       // release that is taken when a pipeline names none

	Checks  *verify.Checks `hcl:"verify,block"`
	EnvVars []*EnvVar      `hcl:"env,block"`
	Pushes  []*PushSet     `hcl:"push_set,block"`
	// Sources are of every release; a release's own source of a kind takes from here what it leaves out.
	Sources  []*Source  `hcl:"source,block"`
	Releases []*Release // those of SDK

	file string // that spoke of it last, for diagnostics
}

// EnvVar is a variable that the SDK's own environment script sets.
type EnvVar struct {
	Name    string `hcl:"name,label"`
	Value   string `hcl:"value"`            // "${root}" is the SDK's root, "${tools}" the Hexagon tools' folder below it, "${match}" what Pattern finds
	Prepend bool   `hcl:"prepend,optional"` // put in front of a list that is there
	When    string `hcl:"when,optional"`    // pattern of paths below the root: only when there is one
	File    string `hcl:"file,optional"`    // path below the root of a file that says the value
	Pattern string `hcl:"pattern,optional"` // regular expression with one group: only when File has it
}

// Release is one version of a toolchain, with how it is had.
type Release struct {
	*qnn.Release
	Note    string         `hcl:"note,optional"` // what is not sure, or to be known
	Checks  *verify.Checks `hcl:"verify,block"`  // beside the toolchain's
	Sources []*Source      `hcl:"source,block"`
}

// Source is one way to get a release.
type Source struct {
	Kind string `hcl:"kind,label"` // archive, deb, embedded, installed, manual, maven, pypi, python, qpm, qsc

	URLs        []string         `hcl:"urls,optional"` // mirrors, tried in order
	StripPrefix string           `hcl:"strip_prefix,optional"`
	Only        []string         `hcl:"only,optional"` // patterns of the files to take; none takes all
	Size        int64            `hcl:"size,optional"` // bytes
	SHA256      string           `hcl:"sha256,optional"`
	SHA1        string           `hcl:"sha1,optional"`
	MD5         string           `hcl:"md5,optional"`
	UserAgent   string           `hcl:"user_agent,optional"`
	CaseMatters bool             `hcl:"case_matters,optional"` // of an archive for Linux: names that differ in case only are fine
	Parts       bool             `hcl:"parts,optional"`        // of a zip: read only the members that Only selects
	Tree        string           `hcl:"tree,optional"`         // of parts, qpm and qsc: digest of the tree
	Headers     []sources.Header `hcl:"header,block"`          // what the servers want to know

	Packages     []string      `hcl:"packages,optional"`     // of a deb source
	Architecture string        `hcl:"architecture,optional"` // of a deb source: what its packages are for, as Debian calls it; "" is this machine
	Suite        string        `hcl:"suite,optional"`        // of a deb source: the suite that has them, where that is none of this machine's
	Links        []*Link       `hcl:"link,block"`
	Wraps        []unpack.Wrap `hcl:"wrap,block"`

	Env      []string   `hcl:"env,optional"`   // variables that may name an installed copy
	Paths    []string   `hcl:"paths,optional"` // where installed copies are usual; "${version}" and "~/" are filled in
	Named    bool       // Paths are those that somebody named, not those where copies are usual: one that is not there is a mistake
	Programs []*Program `hcl:"program,block"` // of an installed source made of programs

	Steps string `hcl:"steps,optional"` // of a manual source: what people have to do

	Product string `hcl:"product,optional"` // of qpm and qsc: what Qualcomm's client calls it

	Coordinates  string   `hcl:"coordinates,optional"`  // of maven: GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXTENSION]
	Repositories []string `hcl:"repositories,optional"` // of maven: roots of repositories, tried in order; none: those of Maven's own configuration

	Project string `hcl:"project,optional"` // of pypi: what the index calls it
	Tags    string `hcl:"tags,optional"`    // of pypi: the end of the file's name, python-abi-platform; "" is none-any
	Index   string `hcl:"index,optional"`   // of pypi and python: an index's address; "" is what pip's own configuration names

	Python       string   `hcl:"python,optional"`        // of python: the release of toolchain python that runs it
	Requirements []string `hcl:"requirements,optional"`  // of python: the packages, as pip has them
	Overrides    []string `hcl:"overrides,optional"`     // of python: requirements in place of what packages say of others
	ExcludeNewer string   `hcl:"exclude_newer,optional"` // of python: a day; what was uploaded on it or later is not there
}

// asked is what a source of kind python is asked for.
func (s *Source) asked() python.Asked {
	return python.Asked{Python: python.Minor(s.Python), Requirements: s.Requirements, Overrides: s.Overrides,
		ExcludeNewer: s.ExcludeNewer, Index: s.Index}.Clean()
}

// Link is a symbolic link to add after unpacking.
type Link struct {
	Path string `hcl:"path,label"`
	To   string `hcl:"to"`
}

// Program is a program of the machine that stands for one of the toolchain.
type Program struct {
	Path  string   `hcl:"path,label"`    // where the toolchain has it
	Names []string `hcl:"names"`         // what to look for in PATH, in order
	Copy  bool     `hcl:"copy,optional"` // take the file itself: for static programs that have to run where the machine's are not seen
	Venv  bool     `hcl:"venv,optional"` // of a Python: take the file itself, which knows no packages of the machine and finds its own library there
}

// didYouMean returns ` (did you mean "x"?)` for the name in have that is nearest to name, "" when none is near. The last
// of those that name is the beginning of is nearest: "2.41" is the beginning of one release.
func didYouMean(name string, have []string) string {
	near := nearest.Name(name, have)
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

// check says what the source lacks.
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
			needs = "project: what the package index calls it"
		} else {
			err = s.wheel("0").Check()
		}
	case "qpm", "qsc":
		if s.Product == "" {
			needs = "product: what Qualcomm's client calls it"
		}
	case "maven":
		_, err = maven.Parse(s.Coordinates)
	case "python":
		err = s.asked().Check()
	case "embedded", "manual":
	default:
		err = errors.New("unknown kind: use archive, deb, embedded, installed, manual, maven, pypi, python, qpm or qsc")
	}
	if needs != "" {
		err = errors.New("it needs " + needs)
	}
	return err
}

// wheel is the one that a source of kind pypi names.
func (s *Source) wheel(version string) pypi.Wheel {
	return pypi.Wheel{Project: s.Project, Version: version, Tags: cmp.Or(s.Tags, "none-any"), Index: s.Index}
}
