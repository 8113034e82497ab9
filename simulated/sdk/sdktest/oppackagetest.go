// Package sdktest has parts that tests of op package builds share: SDKs with working compilers, and a small package. It
// does not know how packages are built.
package sdktest

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// ToolsVersion is the version of the Hexagon tools in the simulated SDKs.
const ToolsVersion = "19.0.04"

// Write writes files below dir. The map's keys are slash paths.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Targets returns the archs that hexmage ships.
func Targets(t testing.TB) oppackage.Targets {
	t.Helper()
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return s.Arches
}

// World returns the facts that hexmage ships.
func World() (*qnn.Facts, error) {
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		return nil, diags
	}
	return &s.Facts, nil
}

// Archive returns the archive that sdk.Embedded.Archive writes with the shipped facts.
func Archive(w io.Writer, name, version string) error {
	return sdk.Embedded{World: World}.Archive(w, name, version)
}

// SDKs unpacks the simulated SDKs into dir/qairt, dir/hexagon and dir/ndk. It returns the variables for make, and the
// compiler's folder, which the SDKs' wrappers need as HEXMAGE_LLVM.
func SDKs(t testing.TB, dir string) (env []string, llvm string) {
	t.Helper()
	for name, variable := range map[string]string{"qairt": "QAIRT_SDK_ROOT", "hexagon": "HEXAGON_SDK_ROOT", "ndk": "ANDROID_NDK_ROOT"} {
		root := filepath.Join(dir, name)
		if err := unpack(name, root); err != nil {
			t.Fatalf("toolchain %s: %v", name, err)
		}
		env = append(env, variable+"="+root)
	}
	llvm = toolchaintest.Root(t, "llvm")
	return append(env, "HEXMAGE_LLVM="+llvm), llvm
}

func unpack(name, root string) error {
	release, err := sdk.Find(name, "")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := Archive(&b, name, release.Version); err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		path := filepath.Join(root, strings.TrimPrefix(f.Name, release.Prefix+"/"))
		if err := unpackFile(f, path); err != nil {
			return err
		}
	}
	return nil
}

func unpackFile(f *zip.File, path string) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if f.Mode()&fs.ModeSymlink != 0 {
		return os.Symlink(string(data), path)
	}
	return os.WriteFile(path, data, f.Mode().Perm())
}

// Package returns the files of TestPackage, a package that compiles and links. One op contains its __FILE__, so that
// tests can detect a leaked path.
func Package() map[string]string {
	return map[string]string{
		"include/scale.h":              "#pragma once\n#define FACTOR 3\n",
		"src/ops/Scale.cpp":            "#include \"HTP/core/tensor.h\"\n#include \"scale.h\"\nfloat scale(const Tensor &t) { return FACTOR * t.interface_scale(); }\nextern const char *const where = __FILE__;\n",
		"src/ops/Hvx.cpp":              "#ifndef REFERENCE_OP\n#include \"hvx_internal.h\"\n#endif\nint hvx(int a) { return a; }\n",
		"src/TestPackageInterface.cpp": "#include \"QnnSdkBuildId.h\"\nextern \"C\" QNN_API const char *TestPackageInterfaceProvider() { return QNN_SDK_BUILD_ID; }\nextern \"C\" QNN_API const char *testOp() { return \"Scale\"; }\n",
		"src/ops/v79_asm/asm.S":        "\t.globl only_v79\nonly_v79:\n\tjumpr r31\n",
		"src/ops/v75_asm/asm.S":        "\tthis is not assembly\n",
		"src/ops/v79_asm/x.inc":        "this is not a source",
		"config/TestPackage.xml":       Config("Scale"),
	}
}

// Config returns an op config that lists the given ops of TestPackage.
func Config(ops ...string) string {
	text := `<OpDefCollection PackageName="TestPackage" Domain="test" Version="1.0"><OpDefList>`
	for _, op := range ops {
		text += `<OpDef><Name>` + op + `</Name><Input><Name>in</Name><Mandatory>true</Mandatory></Input><Output><Name>out</Name><Mandatory>true</Mandatory></Output></OpDef>`
	}
	return text + `</OpDefList></OpDefCollection>`
}
