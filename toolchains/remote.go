package toolchains

import (
	"fmt"

	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// remote fills in the spec for a source that something is downloaded from: archive, maven, pypi, qpm, qsc. What is in the lock counts, and
// must be what the catalogue says.
func (ch *Choice) remote(q Request, spec *sources.Spec) (ok bool, reason string, err error) {
	r, s := ch.Release, ch.Source
	spec.StripPrefix = r.fill(s.StripPrefix)
	spec.Size, spec.SHA256, spec.SHA1, spec.MD5, spec.Tree = s.Size, s.SHA256, s.SHA1, s.MD5, s.Tree
	switch s.Kind {
	case "archive":
		spec.Kind, spec.URLs = sources.KindArchive, r.fillAll(s.URLs)
		spec.UserAgent, spec.Parts, spec.CaseMatters = s.UserAgent, s.Parts, s.CaseMatters
	case "maven":
		c, err := maven.Parse(r.fill(s.Coordinates))
		if err != nil {
			return false, "", err
		}
		spec.Kind, spec.URLs, spec.Sidecars = sources.KindArchive, c.URLs(r.fillAll(s.Repositories)), maven.Sidecars()
		if len(s.Repositories) == 0 {
			spec.Maven = &c
		}
	case "pypi":
		w := s.wheel(r.Version)
		spec.Kind, spec.Wheel = sources.KindArchive, &w
	case "qpm", "qsc":
		spec.Kind = sources.KindVendor
		spec.Vendor = &sources.Vendor{Client: s.Kind, Product: qpm.Product{Name: s.Product, Version: r.Version}}
	}
	spec.Headers = s.Headers
	if e := q.Lock.Find(ch.Toolchain.Name, r.Version, s.Kind); e != nil {
		if err := s.agrees(e); err != nil {
			return false, "", err
		}
		if spec.Wheel != nil {
			spec.Wheel.File = e.File
		}
		if e.SHA256 != "" {
			spec.Size, spec.SHA256 = e.Size, e.SHA256
		}
		if spec.Parts || spec.Kind == sources.KindVendor { // the digest of the archive says it for all others
			spec.Tree = e.Tree
		}
	}
	if spec.Pinned() {
		return true, "", nil
	}
	if spec.Kind == sources.KindVendor {
		if program := s.Kind + "-cli"; !q.Machine.has(program) {
			return false, fmt.Sprintf("%s, with which people with an account at Qualcomm get it, is not in PATH: %s", program, s.byHand(r)), nil
		}
	}
	if !q.Locking {
		lock := fmt.Sprintf("hexmage lock %s %s", ch.Toolchain.Name, r.Version)
		if q.Profile != "" {
			lock += " --profile " + q.Profile
		}
		return false, "", fmt.Errorf("its digest is neither in the catalogue nor in %s, and nothing is downloaded without one: "+
			"run `%s`, which downloads it once and pins what came", LockFile, lock)
	}
	return true, "", nil
}

// byHand returns how people get the release with Qualcomm's client.
func (s *Source) byHand(r *Release) string {
	if s.Kind == "qsc" {
		return fmt.Sprintf("install it and log in with `qsc-cli login -u USER`, or `qsc-cli sdk download --name %s --required-version %s --path DIR` elsewhere", s.Product, r.Version)
	}
	return fmt.Sprintf("install it and log in with `qpm-cli --login`, or elsewhere `qpm-cli --license-activate %s` and `qpm-cli --install %s --version %s --path DIR` "+
		"(DIR must be absolute; logs are in /var/tmp/qcom/qik/logs)", s.Product, s.Product, r.Version)
}

// agrees tells whether the catalogue's digests and those of the lock are of one file.
func (s *Source) agrees(e *Locked) error {
	for _, d := range []struct{ what, catalogue, lock string }{{"sha256", s.SHA256, e.SHA256}, {"tree", s.Tree, e.Tree}} {
		if d.catalogue != "" && d.lock != "" && d.catalogue != d.lock {
			return fmt.Errorf("the catalogue and %s disagree about its %s (%s and %s): find out which is right; "+
				"to take the catalogue's, run `hexmage lock --upgrade %s`", LockFile, d.what, d.catalogue, d.lock,
				e.Name)
		}
	}
	return nil
}

func (m Machine) has(program string) bool {
	_, err := m.find([]string{program})
	return err == nil
}
