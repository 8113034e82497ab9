package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// maxProgram is the size limit of a copied program, in bytes.
const maxProgram = 1 << 30

// programs writes a start script, or a copy, for each program of the machine.
func (s *work) programs(ctx context.Context, out string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".programs-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	for _, p := range s.Programs {
		if !path.IsAbs(p.Target) || strings.ContainsAny(p.Target+p.Identity, "'\n\x00") {
			return fmt.Errorf("program %q: invalid path; use an absolute path without quotes and line breaks", p.Target)
		}
		file := filepath.Join(tmp, filepath.FromSlash(p.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if p.Copy {
			if info, err := os.Stat(p.Target); err != nil || !info.Mode().IsRegular() || info.Size() > maxProgram {
				return fmt.Errorf("%s: missing, not a regular file, or larger than %d bytes", p.Target, maxProgram)
			}
			if err := copyFile(p.Target, file, 0o755); err != nil {
				return err
			}
			if p.Venv {
				if err := venv(p.Target, filepath.Dir(filepath.Dir(file))); err != nil {
					return err
				}
			}
			continue
		}
		script := "#!/bin/sh\n# " + p.Identity + "\nexec '" + p.Target + "' \"$@\"\n"
		if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
			return err
		}
	}
	if err := s.host(tmp); err != nil {
		return err
	}
	if err := verify.Tree(ctx, tmp, s.Verify); err != nil {
		return err
	}
	_ = os.Remove(out) // an empty folder
	return os.Rename(tmp, out)
}

// venv turns the folder above a Python's bin into a virtual environment of the Python at target.
func venv(target, dir string) error {
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pyvenv.cfg"), []byte("home = "+filepath.Dir(real)+"\ninclude-system-site-packages = false\n"), 0o644)
}

// host writes the list of the machine's folders that the programs in the tree at dir need.
func (s Spec) host(dir string) error {
	if len(s.Host) == 0 {
		return nil
	}
	for _, p := range s.Host {
		if !path.IsAbs(p) || strings.ContainsAny(p, "\n\x00") {
			return fmt.Errorf("invalid path %q; use an absolute path", p)
		}
	}
	file := filepath.Join(dir, filepath.FromSlash(action.HostFile))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(s.Host, "\n")+"\n"), 0o644)
}

// checkOnly verifies an existing tree and writes a report.
func (s *work) checkOnly(ctx context.Context, out string) error {
	if err := verify.Tree(ctx, s.File, s.Verify); err != nil {
		return err
	}
	is, err := sdk.Identify(s.File)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(map[string]string{"name": s.Name, "version": is.Version, "build_id": is.BuildID, "tools_version": is.ToolsVersion}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(b, '\n'), 0o644)
}

// vendor downloads the product with Qualcomm's client.
func (s *work) vendor(ctx context.Context, out string) error {
	c := s.o.Vendor
	c.Progress = func(text string) { s.o.Progress(0, 0, text) }
	if s.Vendor.Client == "qsc" {
		file, err := s.vendorArchive(ctx, c)
		if err != nil {
			return err
		}
		return s.unpack(ctx, out, file)
	}
	if s.o.Offline {
		return fmt.Errorf("%w (qpm-cli was downloading %s)", fetch.ErrOffline, s.Vendor.Name)
	}
	// The client takes absolute paths only. A folder beside out is on its file system, so a rename works.
	beside, err := filepath.Abs(filepath.Dir(out))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(beside, ".qpm-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "sdk")
	s.o.Progress(0, 0, "qpm-cli downloads "+s.Name)
	if err := c.Install(ctx, s.Vendor.Product, dir); err != nil {
		return err
	}
	if s.StripPrefix != "" { // some versions add a folder
		if sub := filepath.Join(dir, filepath.FromSlash(s.StripPrefix)); isDir(sub) {
			dir = sub
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	err = s.Finish(ctx, root, s.unpacking())
	_ = root.Close()
	if err != nil {
		return err
	}
	_ = os.Remove(out) // an empty folder
	return os.Rename(dir, out)
}

func isDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// vendorArchive returns the archive that qsc-cli downloads. The downloads folder keeps it under its digest.
func (s *work) vendorArchive(ctx context.Context, c qpm.Client) (string, error) {
	if kept := filepath.Join(s.o.Downloads, keptName(s.Spec)); s.filePinned() && fetch.Check(kept, s.source()) == nil {
		return kept, nil
	}
	if s.o.Offline {
		return "", fmt.Errorf("%w (qsc-cli was downloading %s)", fetch.ErrOffline, s.Vendor.Name)
	}
	downloads, err := filepath.Abs(s.o.Downloads)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(downloads, ".qsc-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	s.o.Progress(0, 0, "qsc-cli downloads "+s.Name)
	file, err := c.Download(ctx, s.Vendor.Product, tmp)
	if err != nil {
		return "", err
	}
	src := s.source()
	src.URLs = []string{file}
	name := filepath.Join(downloads, keptName(s.Spec)+".vendor")
	defer os.Remove(name)
	r, err := fetch.Client{}.Fetch(ctx, src, name)
	if err != nil {
		return "", err
	}
	s.learned = Learned{Size: r.Size, SHA256: r.SHA256}
	kept := filepath.Join(downloads, r.SHA256)
	return kept, os.Rename(name, kept)
}
