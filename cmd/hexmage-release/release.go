package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/toolchains/doctor"
)

// targets returns the systems of a release, by Go's names.
func targets() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}
}

const (
	program   = "hexmage"
	checksums = "SHA256SUMS"
	partly    = "ONLY-A-PART.txt" // in archives for systems with a part of hexmage's features
	bom       = "sbom.cdx.json"

	facts       = "hexmage_facts.json"
	factsSchema = "hexmage_facts.schema.json"

	// bomTool lists the modules of a program. It is not in go.mod, since its dependencies would affect hexmage's
	// versions.
	bomTool = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
)

// makeRelease makes the archives of a release from the last commit of the repository in the working directory. It
// returns the paths of all written files.
func makeRelease(ctx context.Context, out string, targets []string) ([]string, error) {
	work, err := os.MkdirTemp("", "hexmage-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	r := &release{work: work, src: filepath.Join(work, "src")}
	if err := r.clone(ctx); err != nil {
		return nil, err
	}
	if err := r.common(); err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	if err := r.facts(ctx, made); err != nil {
		return nil, err
	}
	for _, t := range targets {
		if err := r.make(ctx, t, made); err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
	}
	return write(out, made)
}

type release struct {
	work  string
	src   string          // the commit's files
	files map[string]file // in each archive
}

// file is a file of an archive.
type file struct {
	content []byte
	program bool
}

// clone clones the repository: a release contains committed files only, and Go stamps no version into programs built in
// a second work tree.
func (r *release) clone(ctx context.Context) error {
	repo, err := os.Getwd()
	if err != nil {
		return err
	}
	_, err = r.run(ctx, r.work, nil, "git", "clone", "--quiet", "--shared", repo, r.src)
	return err
}

// common reads the files that each archive contains.
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

// facts adds the program's facts and their schema.
func (r *release) facts(ctx context.Context, made map[string][]byte) (err error) {
	made[facts], err = r.run(ctx, r.src, []string{"GOFLAGS="}, "go", "run",
		"./cmd/"+program, "show", "facts", "--json")
	if err == nil {
		made[factsSchema], err = os.ReadFile(filepath.Join(r.src, "docs", "facts.schema.json"))
	}
	return err
}

// make adds a target's archive and list of modules.
func (r *release) make(ctx context.Context, target string, made map[string][]byte) error {
	system, arch, _ := strings.Cut(target, "/")
	dir := filepath.Join(r.work, system+"-"+arch)
	env := []string{"GOOS=" + system, "GOARCH=" + arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=", "GOFLAGS=", "GOWORK=off"}
	if _, err := r.run(ctx, r.src, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", dir+"/",
		"./cmd/"+program); err != nil {
		return err
	}
	files := maps.Clone(r.files)
	built := program
	if system == "windows" {
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
	name := fmt.Sprintf("hexmage_%s_%s", system, arch)
	if system != "linux" { // the system with all features
		name += "_part"
		files[partly] = file{content: []byte("This is hexmage for " + target + ", with a part of the features.\n" +
			doctor.NotLinux + "\n")}
	}
	list, err := r.run(ctx, r.work, []string{"CGO_ENABLED=0", "GOFLAGS="}, "go", "run", "-trimpath", bomTool, "bin",
		"-json", "-noserial", "-notimestamp", "-std", filepath.Join(dir, built))
	if err != nil {
		return err
	}
	files[bom] = file{content: list}
	made[name+".cdx.json"] = list
	if files["THIRD-PARTY-LICENSES.txt"], err = r.licenses(ctx, env); err != nil {
		return err
	}
	if system == "windows" {
		made[name+".zip"], err = zipped(name, files, age)
	} else {
		made[name+".tar.gz"], err = tarred(name, files, age)
	}
	return err
}

// commitTime returns the time of a program's commit.
func commitTime(of *buildinfo.BuildInfo) (time.Time, error) {
	for _, s := range of.Settings {
		if s.Key == "vcs.time" {
			return time.Parse(time.RFC3339, s.Value)
		}
	}
	return time.Time{}, errors.New("the commit stamp of the program is missing; build the program in a git clone")
}

// licenses returns the license texts of the program's modules and of Go's standard library.
func (r *release) licenses(ctx context.Context, env []string) (file, error) {
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
		texts, err := licenseTexts(dir)
		if err != nil {
			return file{}, err
		}
		if len(texts) == 0 {
			return file{}, fmt.Errorf("license of %s: no license file found in %s", name, dir)
		}
		for _, text := range texts {
			fmt.Fprintf(&b, "==== %s\n\n%s\n\n", name, bytes.TrimSpace(text))
		}
	}
	return file{content: b.Bytes()}, nil
}

// licenseTexts returns the license files of a module's folder.
func licenseTexts(dir string) (texts [][]byte, err error) {
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

// run runs a command with additional variables and returns its output.
func (r *release) run(ctx context.Context, dir string, env []string, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// write replaces an earlier release in the folder by files and their checksums. It returns their paths.
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
