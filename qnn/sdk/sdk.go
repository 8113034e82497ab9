// Package sdk identifies the SDK in a folder or an archive by its version files. Identify reads a folder on disk, and
// In reads other sources. The package does not know which releases exist, or whether the SDK is complete.
package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/qnn"
)

// SDK holds values from an SDK's version files.
type SDK struct {
	Name         string // name in the catalog: "qairt", "hexagon" or "ndk"
	Version      string // "2.41.0.251128", "6.4.0.2", "28.1.13356709"
	BuildID      string // "v2.41.0.251128145156_191518"; qairt only
	ToolsVersion string // "19.0.04"; hexagon only
	ToolsDir     string // slash path below the root: "tools/HEXAGON_Tools/19.0.04"; hexagon only
	Simulated    bool   // it has the mark qnn.Simulated
}

// ErrUnknown means that a folder contains no known SDK. Errors from Identify and In wrap it.
var ErrUnknown = errors.New("not a known SDK: sdk.yaml, hexagon_sdk.json and source.properties are missing")

// ErrNoVersion means that the version of a Hexagon SDK is unknown. Identify and In wrap it, and still return the SDK's
// other values.
var ErrNoVersion = errors.New("unknown version, because neither hexagon_sdk.json nor the folder's name has a version")

// Arches returns the Hexagon archs, such as "v79", that have folders in the SDK at root.
func (s SDK) Arches(root string) []string {
	dir, prefix := "", ""
	switch s.Name {
	case "qairt":
		dir, prefix = "lib", "hexagon-v"
	case "hexagon":
		dir, prefix = "rtos/qurt", "computev"
	default:
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if number, ok := strings.CutPrefix(e.Name(), prefix); ok && e.IsDir() && archNumber.MatchString(number) {
			out = append(out, "v"+number)
		}
	}
	return out
}

var archNumber = lazyregexp.New(`^\d{2}$`)

var (
	yamlVersion = lazyregexp.New(`(?m)^version:\s*"?(\d+\.\d+\.\d+)`)
	yamlBuild   = lazyregexp.New(`(?m)^build_id:\s*"?(\d{6})(\d{6}(?:_\d+)?)`)
	ndkRevision = lazyregexp.New(`(?m)^Pkg\.Revision\s*=\s*(\S+)`)
	sdkVersion  = lazyregexp.New(`^\d+\.\d+\.\d+(\.\d+)?$`)
)

// ToolsFolder is the folder of the Hexagon tools in an SDK.
const ToolsFolder = "tools/HEXAGON_Tools"

// maxFile limits a version file in bytes.
const maxFile = 1 << 20

// FileNames returns the paths of all version files, relative to an SDK's root.
func FileNames() []string {
	return []string{"sdk.yaml", "hexagon_sdk.json", "source.properties", ToolsFolder}
}

// Files reads the files of an SDK. Names are slash paths below its root.
type Files interface {
	// Read returns a regular file of at most limit bytes.
	Read(name string, limit int64) ([]byte, error)
	// List returns the names in a folder, sorted.
	List(name string) ([]string, error)
}

// Identify identifies the SDK in the folder root by its version files.
func Identify(root string) (SDK, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return SDK{}, err
	}
	s, err := In(folder(root), filepath.Base(abs))
	if err == nil {
		return s, nil
	}
	err = fmt.Errorf("%s: %w", root, err)
	if errors.Is(err, ErrUnknown) {
		if near := Near(root); len(near) > 0 {
			err = fmt.Errorf("%w; use the folder of %s instead", err, strings.Join(near, ", and "))
		}
	}
	return s, err
}

const (
	nearLevels  = 2   // of folders, up and down
	nearFolders = 500 // largest number of folders read
	nearSDKs    = 4   // largest number of SDKs named
)

// Near returns texts such as "qairt 2.41.0.251128 in PATH" for the SDKs near a folder, at most two levels above or
// below.
func Near(root string) (near []string) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil
	}
	look := func(dir string) bool {
		s, err := In(folder(dir), filepath.Base(dir))
		if err != nil || s.Name == "ndk" && !isFolder(filepath.Join(dir, "toolchains")) { // parts of the Android SDK also have a source.properties
			return false
		}
		near = append(near, fmt.Sprintf("%s %s in %s", s.Name, s.Version, dir))
		return true
	}
	level := []string{abs}
	looked := 0
	for range nearLevels {
		var next []string
		for _, dir := range level {
			names, _ := folder(dir).List(".")
			for _, name := range names {
				at := filepath.Join(dir, name)
				if !isFolder(at) {
					continue
				}
				if looked++; looked > nearFolders {
					return near
				}
				if !look(at) {
					next = append(next, at)
				}
				if len(near) == nearSDKs {
					return near
				}
			}
		}
		level = next
	}
	up := abs
	for range nearLevels {
		if up = filepath.Dir(up); len(near) > 0 || look(up) {
			break
		}
	}
	return near
}

func isFolder(at string) bool {
	info, err := os.Stat(at)
	return err == nil && info.IsDir()
}

// folder is an SDK on disk.
type folder string

func (f folder) at(name string) string {
	return filepath.Join(string(f), filepath.FromSlash(name))
}

// Read implements Files. It reads only regular files, because a pipe would block forever.
func (f folder) Read(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(f.at(name))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	return boundedfile.Read(f.at(name), limit)
}

// List implements Files.
func (f folder) List(name string) ([]string, error) {
	entries, err := os.ReadDir(f.at(name))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// In identifies the SDK in f. The parameter name is the name of the SDK's folder.
func In(f Files, name string) (SDK, error) {
	if b, err := f.Read("sdk.yaml", maxFile); err == nil {
		v, id := yamlVersion.Get().FindSubmatch(b), yamlBuild.Get().FindSubmatch(b)
		if v == nil || id == nil {
			return SDK{}, errors.New("sdk.yaml: missing or invalid version or build_id")
		}
		return SDK{Name: "qairt", Version: string(v[1]) + "." + string(id[1]),
			BuildID: "v" + string(v[1]) + "." + string(id[1]) + string(id[2]), Simulated: simulated(b)}, nil
	}
	if b, err := f.Read("hexagon_sdk.json", maxFile); err == nil {
		return hexagon(f, name, b)
	}
	if b, err := f.Read("source.properties", maxFile); err == nil {
		if m := ndkRevision.Get().FindSubmatch(b); m != nil {
			return SDK{Name: "ndk", Version: string(m[1]), Simulated: simulated(b)}, nil
		}
		return SDK{}, errors.New("source.properties: missing Pkg.Revision")
	}
	if _, err := f.List("."); errors.Is(err, fs.ErrPermission) {
		return SDK{}, errors.New("permission denied; make the folder readable with `chmod -R u+rX`")
	}
	return SDK{}, ErrUnknown
}

// simulated reports whether a version file has the mark of a simulated SDK.
func simulated(b []byte) bool { return bytes.Contains(b, []byte(qnn.Simulated)) }

// hexagon finds the tools through hexagon_sdk.json, because their folder's name differs between SDKs. The SDK's
// version is in that file or else in the folder's name.
func hexagon(files Files, name string, b []byte) (SDK, error) {
	var f struct {
		Root struct {
			Version string `json:"version"`
			Tools   struct {
				Info []struct {
					Name    string `json:"name"`
					Version string `json:"version"`
					Path    string `json:"path"`
				} `json:"info"`
			} `json:"tools"`
		} `json:"root"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return SDK{}, fmt.Errorf("hexagon_sdk.json: %w", err)
	}
	s := SDK{Name: "hexagon", Version: f.Root.Version, Simulated: simulated(b)}
	if s.Version == "" && sdkVersion.MatchString(name) {
		s.Version = name
	}
	for _, i := range f.Root.Tools.Info {
		p := path.Clean(filepath.ToSlash(i.Path))
		if i.Name != "Hexagon Tools" || path.IsAbs(p) || strings.HasPrefix(p, "..") {
			continue
		}
		s.ToolsDir, s.ToolsVersion = p, i.Version
		if s.ToolsVersion == "" {
			s.ToolsVersion = path.Base(p)
		}
	}
	if s.ToolsDir == "" { // without a path in the file, the SDK has one tools folder
		names, err := files.List(ToolsFolder)
		if err != nil || len(names) == 0 {
			return SDK{}, errors.New("no Hexagon tools in " + ToolsFolder + "")
		}
		s.ToolsVersion = names[len(names)-1]
		s.ToolsDir = ToolsFolder + "/" + s.ToolsVersion
	}
	if s.Version == "" {
		return s, ErrNoVersion
	}
	return s, nil
}
