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

// buildIDs looks for the SDK's build id in each file. Not every library holds one in plain text: some have the release's version alone, and are held
// to that; one with neither is passed over, and counted. But where there is one it must be the SDK's, and somewhere there must be one.
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
			t.add(name, "a file that can't be read: "+err.Error(), "a build id", again)
		case id == "" && (version == "" || wanted == "" || version == wanted):
		case id == "":
			t.add(name, "version "+version, "version "+wanted, mixed)
		case !strings.HasPrefix(id, want.Want):
			t.add(name, "build id "+id, "build id "+want.Want, mixed)
		case first == "":
			first, firstFile = id, name
		case id != first:
			t.add(name, "build id "+id, "build id "+first+" as in "+firstFile, "the SDK is mixed of two releases; get one release whole")
		}
	}
	if first == "" && len(t.report.Problems) == 0 {
		t.add(strings.Join(want.Files, ", "), "no build id in any of them", "build id "+want.Want, again)
	}
}

const mixed = "the file is of another SDK: a mixed SDK fails on the device with \"lib id mismatch\", and on the host " +
	"fails or makes contexts of another release; get one release whole"

// findBuildID returns the first build id in the file, and where it has none the version that it says; "" when it has none.
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

// buildHeader says the build id to what is compiled with the SDK.
const buildHeader = "include/QNN/QnnSdkBuildId.h"

// identity compares what the SDK's own files say of it with each other and with the release that was asked for.
func (t *tree) identity() {
	if !t.checks.Identity {
		return
	}
	is, err := sdk.Identify(t.root)
	if err != nil && !errors.Is(err, sdk.ErrNoVersion) { // in the store no folder is called as a release
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
		t.add(file, strconv.Quote(got), strconv.Quote(want), "this is another release than the one that was asked "+
			"for: change `version` in the toolchain block, or get that release")
	}
	if is.Name == "qairt" {
		if id, _, err := findBuildID(filepath.Join(t.root, filepath.FromSlash(buildHeader))); err == nil && id != "" && id != is.BuildID {
			t.add(buildHeader, "build id "+id, "build id "+is.BuildID+" as in sdk.yaml",
				"headers and libraries are of two releases: op packages would carry an id that the phone refuses; get one release whole")
		}
	}
}
