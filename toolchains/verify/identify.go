package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// SDK is what an SDK's own files say it is.
type SDK struct {
	Name         string // "qairt", "hexagon" or "ndk", as the catalogue calls them
	Version      string // "2.41.0.251128", "6.4.0.2", "28.1.13356709"
	BuildID      string // "v2.41.0.251128145156_191518"; only of qairt
	ToolsVersion string // "19.0.04"; only of hexagon
	ToolsDir     string // slash path below the root: "tools/HEXAGON_Tools/19.0.04"; only of hexagon
}

// ErrUnknownSDK is what Identify returns, wrapped, for a folder that holds no SDK it knows.
var ErrUnknownSDK = errors.New("no SDK that hexmage knows: it has no sdk.yaml, no hexagon_sdk.json and no source.properties")

// ErrNoVersion is what Identify returns, wrapped, beside all else that it knows, for a Hexagon SDK that does not say which
// release it is: its file has no version, and its folder has another name.
var ErrNoVersion = errors.New("neither its hexagon_sdk.json nor the folder's name says its version")

// Is tells whether the SDK is the release that the catalogue calls version. The NDK's release names ("r28b") are not in
// its files; its revision is compared by the caller.
func (s SDK) Is(version string) bool { return s.Version == version }

// Arches returns the Hexagon archs ("v79") for which the SDK at root has folders.
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

// toolsFolder has the Hexagon tools of an SDK.
const toolsFolder = "tools/HEXAGON_Tools"

// IdentityFiles returns the paths below an SDK's root that Identify may look at.
func IdentityFiles() []string {
	return []string{"sdk.yaml", "hexagon_sdk.json", "source.properties", toolsFolder}
}

// Identify reads the version files of the SDK at root.
func Identify(root string) (SDK, error) {
	t := tree{root: root}
	if b, err := t.read("sdk.yaml"); err == nil {
		v, id := yamlVersion.Get().FindSubmatch(b), yamlBuild.Get().FindSubmatch(b)
		if v == nil || id == nil {
			return SDK{}, fmt.Errorf("%s has no version or no build_id that is understood", filepath.Join(root, "sdk.yaml"))
		}
		return SDK{Name: "qairt", Version: string(v[1]) + "." + string(id[1]),
			BuildID: "v" + string(v[1]) + "." + string(id[1]) + string(id[2])}, nil
	}
	if b, err := t.read("hexagon_sdk.json"); err == nil {
		return identifyHexagon(root, b)
	}
	if b, err := t.read("source.properties"); err == nil {
		if m := ndkRevision.Get().FindSubmatch(b); m != nil {
			return SDK{Name: "ndk", Version: string(m[1])}, nil
		}
		return SDK{}, fmt.Errorf("%s has no Pkg.Revision", filepath.Join(root, "source.properties"))
	}
	return SDK{}, fmt.Errorf("%s: %w", root, ErrUnknownSDK)
}

// identifyHexagon finds the tools by what hexagon_sdk.json says of them: their folder's name changes with every SDK. The
// SDK's own version is in that file only sometimes; else it is the folder's name.
func identifyHexagon(root string, b []byte) (SDK, error) {
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
		return SDK{}, fmt.Errorf("%s: %w", filepath.Join(root, "hexagon_sdk.json"), err)
	}
	s := SDK{Name: "hexagon", Version: f.Root.Version}
	if s.Version == "" {
		abs, err := filepath.Abs(root)
		if err != nil {
			return SDK{}, err
		}
		if base := filepath.Base(abs); sdkVersion.MatchString(base) {
			s.Version = base
		}
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
	if s.ToolsDir == "" { // an SDK whose file does not say it has one folder
		names, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(toolsFolder)))
		if err != nil || len(names) == 0 {
			return SDK{}, fmt.Errorf("%s: no Hexagon tools in tools/HEXAGON_Tools: add them there", root)
		}
		s.ToolsVersion = names[len(names)-1].Name()
		s.ToolsDir = toolsFolder + "/" + s.ToolsVersion
	}
	if s.Version == "" {
		return s, fmt.Errorf("%s: %w", root, ErrNoVersion)
	}
	return s, nil
}
