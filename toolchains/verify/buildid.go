package verify

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/sdk"
)

// buildIDs compares the build ids in the files. Some libraries contain only the release's version, which must then
// match. buildIDs counts and skips files with neither. A build id must be the SDK's, and at least one file must have
// it.
func (t *tree) buildIDs() {
	want := t.checks.BuildID
	if want == nil {
		return
	}
	var files []string
	for _, p := range want.Files {
		for _, q := range t.patterns(p) {
			files = append(files, t.glob(q)...)
		}
	}
	slices.Sort(files)
	first, firstFile := "", ""
	for _, name := range slices.Compact(files) {
		id, version, err := findBuildID(filepath.Join(t.root, filepath.FromSlash(name)))
		switch {
		case id != "" || version != "":
			t.report.Checked.BuildIDs++
		case err == nil:
			t.report.Checked.Silent++
		}
		wanted := buildid.Version(cmp.Or(first, want.Want))
		switch {
		case err != nil:
			t.add(name, "unreadable file: "+err.Error(), "a build id", again)
		case id == "" && (version == "" || wanted == "" || version == wanted):
		case id == "":
			t.add(name, "version "+version, "version "+wanted, mixed)
		case !strings.HasPrefix(id, want.Want):
			t.add(name, "build id "+id, "build id "+want.Want, mixed)
		case first == "":
			first, firstFile = id, name
		case id != first:
			t.add(name, "build id "+id, "build id "+first+" as in "+firstFile, "the SDK mixes two releases; get one "+
				"complete release")
		}
	}
	if first == "" && len(t.report.Problems) == 0 {
		t.add(strings.Join(want.Files, ", "), "no build id in these files", "build id "+want.Want, again)
	}
}

const mixed = "the file belongs to another release, and mixed SDKs fail, for example with \"lib id mismatch\"; get " +
	"one complete release"

// findBuildID returns the first build id in the file, or else the version in it. Both may be "".
func findBuildID(name string) (id, version string, err error) {
	f, err := openFile(name)
	if err != nil || f == nil {
		return "", "", err
	}
	defer f.Close()
	if id, err = buildid.First(io.LimitReader(f, maxELF)); err != nil || id != "" {
		return id, "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", "", err
	}
	texts, err := buildid.Scan(io.LimitReader(f, maxELF))
	if len(texts.Versions) == 1 {
		version = texts.Versions[0]
	}
	return "", version, err
}

// buildHeader is the file from which compiled code gets the SDK's build id.
const buildHeader = "include/QNN/QnnSdkBuildId.h"

// identity compares the versions and build ids in the SDK's own files with each other and with the requested release.
func (t *tree) identity() {
	if !t.checks.Identity {
		return
	}
	is, err := sdk.Identify(t.root)
	if err != nil && !errors.Is(err, sdk.ErrNoVersion) { // folder names in the store are not versions
		t.add(".", err.Error(), "an SDK", again)
		return
	}
	file, got, want := "sdk.yaml", is.Version, t.checks.Version
	switch is.Name {
	case "ndk":
		file = "source.properties"
	case "hexagon":
		file, got, want = "hexagon_sdk.json", is.ToolsVersion, t.checks.ToolsVersion
	}
	if want != "" && got != want {
		t.add(file, strconv.Quote(got), strconv.Quote(want), "the folder holds another release; change `version` in "+
			"the toolchain block, or get the requested release")
	}
	if is.Name == "qairt" {
		if id, _, err := findBuildID(filepath.Join(t.root, filepath.FromSlash(buildHeader))); err == nil && id != "" && id != is.BuildID {
			t.add(buildHeader, "build id "+id, "build id "+is.BuildID+" as in sdk.yaml",
				"headers and libraries belong to two releases, so the phone would reject op packages; get one "+
					"complete release")
		}
	}
}
