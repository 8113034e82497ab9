package sdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn/sdk"
)

// tree writes files into a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestIdentify(t *testing.T) {
	yaml := map[string]string{"sdk.yaml": "product: qairt\nversion: 2.41.0\nbuild_id: 251128145156_191518\n"}
	for name, c := range map[string]struct {
		files map[string]string
		want  sdk.SDK
		says  string
	}{
		"qairt":          {files: yaml, want: sdk.SDK{Name: "qairt", Version: "2.41.0.251128", BuildID: "v2.41.0.251128145156_191518"}},
		"qairt, damaged": {files: map[string]string{"sdk.yaml": "x"}, says: "missing or invalid version"},
		"ndk":            {files: map[string]string{"source.properties": "Pkg.Desc = Android NDK\nPkg.Revision = 28.1.13356709\n"}, want: sdk.SDK{Name: "ndk", Version: "28.1.13356709"}},
		"hexagon": {files: map[string]string{"hexagon_sdk.json": `{"root":{"version":"6.4.0.2","tools":{"info":[{"name":"other","path":"x"},{"name":"Hexagon Tools","path":"tools/HEXAGON_Tools/19.0.04"}]}}}`},
			want: sdk.SDK{Name: "hexagon", Version: "6.4.0.2", ToolsVersion: "19.0.04", ToolsDir: "tools/HEXAGON_Tools/19.0.04"}},
		"hexagon without a word of tools": {files: map[string]string{"hexagon_sdk.json": `{"root":{"version":"5.5.5.0"}}`, "tools/HEXAGON_Tools/8.7.06/Tools/bin/x": ""},
			want: sdk.SDK{Name: "hexagon", Version: "5.5.5.0", ToolsVersion: "8.7.06", ToolsDir: "tools/HEXAGON_Tools/8.7.06"}},
		"hexagon, tools elsewhere":  {files: map[string]string{"hexagon_sdk.json": `{"root":{"version":"6.4.0.2","tools":{"info":[{"name":"Hexagon Tools","path":"/opt/tools"}]}}}`}, says: "no Hexagon tools"},
		"hexagon, version not said": {files: map[string]string{"hexagon_sdk.json": `{}`, "tools/HEXAGON_Tools/8.8.06/a": ""}, says: "unknown version"},
		"hexagon, no JSON":          {files: map[string]string{"hexagon_sdk.json": `{`}, says: "hexagon_sdk.json"},
		"something else":            {files: map[string]string{"a": ""}, says: "not a known SDK"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sdk.Identify(tree(t, c.files))
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want %q", err, c.says)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// FuzzIdentify reads version files of SDKs that anybody may have written.
func FuzzIdentify(f *testing.F) {
	f.Add("sdk.yaml", []byte("version: 2.41.0\nbuild_id: 251128145156_191518\n"))
	f.Add("hexagon_sdk.json", []byte(`{"root":{"version":"6.4.0.2","tools":{"info":[{"name":"Hexagon Tools","version":"19.0.04","path":"tools/HEXAGON_Tools/19.0.04"}]}}}`))
	f.Add("hexagon_sdk.json", []byte(`{"root":{"tools":{"info":[{"name":"Hexagon Tools","path":"../../x"}]}}}`))
	f.Add("source.properties", []byte("Pkg.Revision = 28.1.13356709\n"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		if name != "sdk.yaml" && name != "hexagon_sdk.json" && name != "source.properties" {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
		is, err := sdk.Identify(dir)
		if err == nil && (is.Name == "" || is.Version == "") {
			t.Errorf("%+v is no SDK", is)
		}
		if is.ToolsDir != "" && !filepath.IsLocal(filepath.FromSlash(is.ToolsDir)) {
			t.Errorf("the tools' folder %q leaves the SDK", is.ToolsDir)
		}
	})
}

// An SDK one or two levels below or above the folder is named; Android's other source.properties are none, and what is further off is not
// looked for.
func TestNear(t *testing.T) {
	yaml := "version: 2.41.0\nbuild_id: 251128145156_191518\n"
	for name, c := range map[string]struct {
		files map[string]string
		at    string
		says  string // "" for nothing
	}{
		"one level below":    {map[string]string{"qairt/2.41.0.251128/sdk.yaml": yaml}, "qairt", "qairt 2.41.0.251128 in {}/qairt/2.41.0.251128 instead"},
		"two levels below":   {map[string]string{"qairt/2.41.0.251128/sdk.yaml": yaml}, ".", "in {}/qairt/2.41.0.251128 instead"},
		"three levels below": {map[string]string{"a/qairt/2.41.0.251128/sdk.yaml": yaml}, ".", ""},
		"one level above":    {map[string]string{"sdk.yaml": yaml, "lib/x": ""}, "lib", "in {} instead"},
		"two levels above":   {map[string]string{"sdk.yaml": yaml, "lib/hexagon-v79/x": ""}, "lib/hexagon-v79", "in {} instead"},
		"three levels above": {map[string]string{"sdk.yaml": yaml, "lib/hexagon-v79/unsigned/x": ""}, "lib/hexagon-v79/unsigned", ""},
		"the Hexagon SDK":    {map[string]string{"Hexagon_SDK/6.4.0.2/hexagon_sdk.json": "{}", "Hexagon_SDK/6.4.0.2/tools/HEXAGON_Tools/19.0.04/x": ""}, ".", "hexagon 6.4.0.2 in {}/Hexagon_SDK/6.4.0.2"},
		"two of them":        {map[string]string{"a/sdk.yaml": yaml, "b/sdk.yaml": yaml}, ".", "in {}/a, and qairt 2.41.0.251128 in {}/b"},
		"an NDK":             {map[string]string{"ndk/28.1/source.properties": "Pkg.Revision = 28.1.13356709\n", "ndk/28.1/toolchains/x": ""}, ".", "ndk 28.1.13356709 in {}/ndk/28.1"},
		"Android's tools":    {map[string]string{"platform-tools/source.properties": "Pkg.Revision = 36.0.0\n"}, ".", ""},
		"a damaged SDK":      {map[string]string{"sdk.yaml": "x", "qairt/sdk.yaml": yaml}, ".", ""}, // it is the root, and says what is wrong
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, c.files)
			_, err := sdk.Identify(filepath.Join(dir, filepath.FromSlash(c.at)))
			if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(c.says, "{}", dir)) || c.says == "" && strings.Contains(err.Error(), "There is") {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}
