// Package release makes what users download: for each system an archive with the program and what belongs to them, a
// list of the modules in it (an SBOM, by CycloneDX), and a file of checksums. The same commit gives the same bytes,
// with the same Go: what is packed is in order, and is as old as the commit (docs/design/0030-releases.md).
//
// The version is the one that Go itself stamps into programs, of the git tag. The package knows nothing of what
// hexmage does.
package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/toolchains/doctor"
)

// Target is a system that there is a release for, by Go's names.
type Target struct{ OS, Arch string }

// String is the target as Go writes it: linux/amd64.
func (t Target) String() string { return t.OS + "/" + t.Arch }

// whole tells whether hexmage does all that it does on that system.
func (t Target) whole() bool { return t.OS == "linux" }

// Targets are the systems that releases are for.
func Targets() []Target {
	return []Target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}}
}

// Options say of what to make a release.
type Options struct {
	Repo    string   // the repository's folder: what is committed there last is released
	Out     string   // the folder for the archives
	Targets []Target // which ones
	Env     []string // as KEY=value: how Go reaches its modules here
}

const (
	program   = "hexmage"
	checksums = "SHA256SUMS"
	partly    = "ONLY-A-PART.txt" // in archives for systems on which hexmage does not do all
	bom       = "sbom.cdx.json"

	// bomTool lists the modules of a program. It is no tool of go.mod's: what it stands on would choose versions for
	// hexmage.
	bomTool = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
)

// Make makes the archives of a release and returns the paths of all that it wrote.
func Make(ctx context.Context, o Options) ([]string, error) {
	work, err := os.MkdirTemp("", "hexmage-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	r := &release{Options: o, work: work, src: filepath.Join(work, "src")}
	if err := r.clone(ctx); err != nil {
		return nil, err
	}
	if err := r.common(); err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	for _, t := range o.Targets {
		if err := r.make(ctx, t, made); err != nil {
			return nil, fmt.Errorf("%v: %w", t, err)
		}
	}
	return write(o.Out, made)
}

type release struct {
	Options
	work  string
	src   string          // the commit's files
	files map[string]file // what all archives have
}

// file is a file of an archive.
type file struct {
	content []byte
	program bool
}

// clone has the commit's files in a clone of its own: what is not committed is in no release, and Go stamps no
// version into what is built in another work tree of a repository.
func (r *release) clone(ctx context.Context) error {
	repo, err := filepath.Abs(r.Repo)
	if err != nil {
		return err
	}
	_, err = r.run(ctx, r.work, nil, "git", "clone", "--quiet", "--shared", repo, r.src)
	return err
}

// common reads what is the same in all archives.
func (r *release) common() error {
	r.files = map[string]file{}
	for name, from := range map[string]string{
		"LICENSE": "LICENSE", "README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md",
		"completion/hexmage.bash": "cmd/hexmage/cli/completion/hexmage.bash",
		"completion/hexmage.zsh":  "cmd/hexmage/cli/completion/hexmage.zsh",
		"completion/hexmage.fish": "cmd/hexmage/cli/completion/hexmage.fish",
	} {
		b, err := os.ReadFile(filepath.Join(r.src, filepath.FromSlash(from)))
		if err != nil {
			return err
		}
		r.files[name] = file{content: b}
	}
	return nil
}

// make adds the archive of a target, and its list of modules, to what is made.
func (r *release) make(ctx context.Context, t Target, made map[string][]byte) error {
	dir := filepath.Join(r.work, t.OS+"-"+t.Arch)
	env := []string{"GOOS=" + t.OS, "GOARCH=" + t.Arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=", "GOFLAGS=", "GOWORK=off"}
	if _, err := r.run(ctx, r.src, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", dir+"/",
		"./cmd/"+program); err != nil {
		return err
	}
	files := map[string]file{}
	for name, f := range r.files {
		files[name] = f
	}
	built := program
	if t.OS == "windows" {
		built += ".exe"
	}
	b, err := os.ReadFile(filepath.Join(dir, built))
	if err != nil {
		return err
	}
	files[built] = file{b, true}
	of, err := buildinfo.ReadFile(filepath.Join(dir, built))
	if err != nil {
		return err
	}
	age, err := commitTime(of)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("hexmage_%s_%s", t.OS, t.Arch)
	if !t.whole() {
		name += "_part"
		files[partly] = file{content: []byte("This is hexmage for " + t.String() + ", which is only a part of it.\n" +
			doctor.NotLinux + "\n")}
	}
	list, err := r.run(ctx, r.work, []string{"CGO_ENABLED=0", "GOFLAGS="}, "go", "run", "-trimpath", bomTool, "bin",
		"-json", "-noserial", "-notimestamp", "-std", filepath.Join(dir, built))
	if err != nil {
		return err
	}
	files[bom] = file{content: list}
	made[name+".cdx.json"] = list
	if files["THIRD-PARTY-LICENSES.txt"], err = r.licences(ctx, env); err != nil {
		return err
	}
	if t.OS == "windows" {
		made[name+".zip"], err = zipped(name, files, age)
	} else {
		made[name+".tar.gz"], err = tarred(name, files, age)
	}
	return err
}

// commitTime is when the commit was made that a program is built from.
func commitTime(of *buildinfo.BuildInfo) (time.Time, error) {
	for _, s := range of.Settings {
		if s.Key == "vcs.time" {
			return time.Parse(time.RFC3339, s.Value)
		}
	}
	return time.Time{}, errors.New("the commit is not stamped into the program, which Go does of a clone with git")
}

// licences are the texts under which the modules in the program are, and Go's own library.
func (r *release) licences(ctx context.Context, env []string) (file, error) {
	list, err := r.run(ctx, r.src, env, "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/"+program)
	if err != nil {
		return file{}, err
	}
	root, err := r.run(ctx, r.src, nil, "go", "env", "GOROOT")
	if err != nil {
		return file{}, err
	}
	lines := strings.Split(strings.TrimSpace(string(list))+"\nGo's standard library\t"+
		strings.TrimSpace(string(root)), "\n")
	slices.Sort(lines)
	var b bytes.Buffer
	for _, line := range slices.Compact(lines) {
		name, dir, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		texts, err := licenceTexts(dir)
		if err != nil {
			return file{}, err
		}
		if len(texts) == 0 {
			return file{}, fmt.Errorf("%s: there is no licence in %s", name, dir)
		}
		for _, text := range texts {
			fmt.Fprintf(&b, "==== %s\n\n%s\n\n", name, bytes.TrimSpace(text))
		}
	}
	return file{content: b.Bytes()}, nil
}

// licenceTexts are the files of a module's folder that say under which licence it is.
func licenceTexts(dir string) (texts [][]byte, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(upper, "LICEN") && !strings.HasPrefix(upper, "COPYING") &&
			!strings.HasPrefix(upper, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, err
}

// run runs a command with more variables and returns what it printed.
func (r *release) run(ctx context.Context, dir string, env []string, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(r.Env), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// write writes files, and their checksums, in the place of what an earlier release left in the folder. It returns
// their paths.
func write(dir string, files map[string][]byte) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	old, err := filepath.Glob(filepath.Join(dir, "hexmage_*"))
	if err != nil {
		return nil, err
	}
	for _, p := range old {
		if err := os.Remove(p); err != nil {
			return nil, err
		}
	}
	var sums bytes.Buffer
	for _, name := range sorted(files) {
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	files[checksums] = sums.Bytes()
	var paths []string
	for _, name := range sorted(files) {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, files[name], 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}
