package inspect_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// simulated writes an SDK's archive, and returns its path and its release.
func simulated(t *testing.T, name string) (string, sdk.Release) {
	t.Helper()
	r, err := sdk.Find(name, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := sdktest.Archive(&b, name, ""); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "download")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, r
}

// TestSDK describes SDKs as zip files and as folders: both say the same.
func TestSDK(t *testing.T) {
	for name, headline := range map[string]string{"qairt": "QAIRT 2.", "hexagon": "Hexagon SDK 6.", "ndk": "Android NDK 2"} {
		t.Run(name, func(t *testing.T) {
			file, r := simulated(t, name)
			zipped := mustDescribe(t, file)
			dir := filepath.Join(t.TempDir(), filepath.Base(r.Prefix))
			if err := archive.Unpack(t.Context(), dir, archive.Options{StripPrefix: r.Prefix}, file); err != nil {
				t.Fatal(err)
			}
			folder := mustDescribe(t, dir)
			sdk := zipped.Contents.SDK
			if sdk == nil || sdk.Name != name || sdk.Root != r.Prefix || name != "ndk" && sdk.Version != r.Version || sdk.BuildID != r.BuildID || len(zipped.Contents.Warnings) > 0 {
				t.Fatalf("%+v, want %+v", zipped.Contents, r)
			}
			same := *sdk
			same.Root = ""
			if d := cmp.Diff(&same, folder.Contents.SDK); d != "" {
				t.Errorf("zip and folder differ (-zip +folder):\n%s", d)
			}
			if name == "qairt" && (len(sdk.Arches) < 2 || len(sdk.Targets) < 2) {
				t.Errorf("arches %q, targets %q", sdk.Arches, sdk.Targets)
			}
			for _, d := range []inspect.Description{zipped, folder} {
				if !strings.Contains(d.String(), headline) {
					t.Errorf("%s", d)
				}
			}
		})
	}
}

func TestMixedSDK(t *testing.T) {
	file, r := simulated(t, "qairt")
	dir := filepath.Join(t.TempDir(), "sdk")
	if err := archive.Unpack(t.Context(), dir, archive.Options{StripPrefix: r.Prefix}, file); err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(dir, "lib", "aarch64-android", "libQnnHtp.so")
	b, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lib, bytes.ReplaceAll(b, []byte(r.BuildID), []byte("v2.31.0.250130"+r.BuildID[14:])), 0o644); err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(mustDescribe(t, dir).Contents.Warnings, "\n"); !strings.Contains(w, "lib/aarch64-android/libQnnHtp.so: build id v2.31.0.250130") {
		t.Errorf("warnings %q", w)
	}
}

func TestDamagedZip(t *testing.T) {
	file, _ := simulated(t, "qairt")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b[:len(b)-50], 0o644); err != nil {
		t.Fatal(err)
	}
	if d, err := inspect.Describe(file); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("%+v, %v", d, err)
	}
}
