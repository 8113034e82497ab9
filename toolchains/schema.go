package toolchains

// Toolchain is a kind of SDK or tool with its releases.
type Toolchain struct {
	Name        string `hcl:"name,label"`
	Description string `hcl:"description,optional"`
	Page        string `hcl:"page,optional"`    // where people get it by hand
	Licence     string `hcl:"licence,optional"` // what has to be accepted
	Default     string `hcl:"default,optional"` // release that is taken when a pipeline names none

	Checks  *Checks   `hcl:"verify,block"`
	EnvVars []*EnvVar `hcl:"env,block"`
	Tools   []*Tools  `hcl:"tools,block"` // which archs each version of the compilers knows; a release that names no arches takes them from here
	// Sources are of every release; a release's own source of a kind takes from here what it leaves out.
	Sources  []*Source  `hcl:"source,block"`
	Releases []*Release `hcl:"release,block"`

	file string // that spoke of it last, for diagnostics
}

// Tools says which Hexagon archs a series of compilers can build for.
type Tools struct {
	Series string   `hcl:"series,label"` // the beginning of their versions: "8.8" is 8.8.02, 8.8.06, …
	Arches []string `hcl:"arches"`
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

// Release is one version of a toolchain.
type Release struct {
	Version      string   `hcl:"version,label"`
	BuildID      string   `hcl:"build_id,optional"`      // the whole build id, where it is known
	ToolsVersion string   `hcl:"tools_version,optional"` // of the compilers in it
	Arches       []string `hcl:"arches,optional"`        // Hexagon archs it can build for, or has libraries for: "v79"
	Revision     string   `hcl:"revision,optional"`      // another name of the release that its own files use
	Note         string   `hcl:"note,optional"`          // what is not sure, or to be known

	// Versions of the interfaces in it, as far as they are known: "2.32.0".
	CoreAPI     string `hcl:"core_api,optional"`     // QNN's own
	HTPAPI      string `hcl:"htp_api,optional"`      // the HTP backend's, which op packages are built against
	ContextBlob string `hcl:"context_blob,optional"` // newest format of context binaries it reads and writes
	SystemAPI   string `hcl:"system_api,optional"`

	Checks  *Checks   `hcl:"verify,block"` // beside the toolchain's
	Sources []*Source `hcl:"source,block"`
}

// Source is one way to get a release.
type Source struct {
	Kind string `hcl:"kind,label"` // archive, deb, embedded, installed, manual, maven, qpm, qsc

	URLs        []string  `hcl:"urls,optional"` // mirrors, tried in order
	StripPrefix string    `hcl:"strip_prefix,optional"`
	Only        []string  `hcl:"only,optional"` // patterns of the files to take; none takes all
	Size        int64     `hcl:"size,optional"` // bytes
	SHA256      string    `hcl:"sha256,optional"`
	SHA1        string    `hcl:"sha1,optional"`
	MD5         string    `hcl:"md5,optional"`
	UserAgent   string    `hcl:"user_agent,optional"`
	HTTP1       bool      `hcl:"http1,optional"`
	Parts       bool      `hcl:"parts,optional"`        // of a zip archive: read only those members that Only names
	CaseMatters bool      `hcl:"case_matters,optional"` // of an archive for Linux: names that differ in case only are fine
	Tree        string    `hcl:"tree,optional"`         // digest of the tree that comes of it, where the source itself has none: of parts, qpm, qsc
	Headers     []*Header `hcl:"header,block"`          // what the servers want to know

	Packages []string `hcl:"packages,optional"` // of a deb source
	Links    []*Link  `hcl:"link,block"`
	Wraps    []*Wrap  `hcl:"wrap,block"`

	Env      []string   `hcl:"env,optional"`   // variables that may name an installed copy
	Paths    []string   `hcl:"paths,optional"` // where installed copies are usual; "${version}" and "~/" are filled in
	Programs []*Program `hcl:"program,block"`  // of an installed source made of programs

	Steps string `hcl:"steps,optional"` // of a manual source: what people have to do

	Product  string `hcl:"product,optional"`  // of qpm and qsc: what the vendor's client calls it
	Extract  bool   `hcl:"extract,optional"`  // of qpm: unpack it, rather than install it
	Adds     []*Add `hcl:"add,block"`         // of qpm: products that belong into the tree, such as tools
	Activate string `hcl:"activate,optional"` // of qpm: the licence to activate before; "" is product

	Coordinates  string   `hcl:"coordinates,optional"`  // of maven: GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXTENSION]
	Repositories []string `hcl:"repositories,optional"` // of maven: roots of repositories, tried in order
}

// Link is a symbolic link to add after unpacking.
type Link struct {
	Path string `hcl:"path,label"`
	To   string `hcl:"to"`
}

// Wrap is a program to be started with libraries of the tree, where the machine may have none.
type Wrap struct {
	Path      string   `hcl:"path,label"`
	Program   string   `hcl:"program"`   // path in the tree of what is started
	Libraries []string `hcl:"libraries"` // folders of the tree
}

// Program is a program of the machine that stands for one of the toolchain.
type Program struct {
	Path  string   `hcl:"path,label"`    // where the toolchain has it
	Names []string `hcl:"names"`         // what to look for in PATH, in order
	Copy  bool     `hcl:"copy,optional"` // take the file itself: for static programs that have to run where the machine's are not seen
}
