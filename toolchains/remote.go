package toolchains

import (
	"fmt"

	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/maven"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// remote fills in the spec for a source with downloads: archive, maven, pypi, qpm, qsc. It uses the lock's digests, and
// returns an error if the catalog's differ.
func (ch *Choice) remote(q Request, spec *sources.Spec) (ok bool, reason string, err error) {
	r, s := ch.Release, ch.Source
	spec.StripPrefix = r.fill(s.StripPrefix)
	spec.Size, spec.SHA256, spec.SHA1, spec.MD5, spec.Tree = s.Size, s.SHA256, s.SHA1, s.MD5, s.Tree
	if len(q.Only) > 0 {
		spec.Tree = "" // belongs to the source's own patterns
	}
	switch s.Kind {
	case "archive":
		spec.Kind, spec.URLs = sources.KindArchive, r.fillAll(s.URLs)
		spec.UserAgent, spec.CaseMatters = s.UserAgent, s.CaseMatters
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
		if spec.Kind == sources.KindVendor { // other kinds have the digest of the archive
			spec.Tree = e.Tree
		}
		if p := e.Part(spec.Only); p != nil && s.Kind == "archive" {
			spec.Tree, spec.Parts = p.Tree, &sources.Parts{Directory: e.Directory, Size: p.Size}
			ch.OnTrust = p.Trust != ""
		}
	}
	if spec.Pinned() {
		return true, "", nil
	}
	if spec.Kind == sources.KindVendor {
		if program := s.Kind + "-cli"; !q.Machine.has(program) {
			return false, fmt.Sprintf("%s, Qualcomm's download client, is not in PATH; %s", program, s.byHand(r)), nil
		}
	}
	if !q.Locking {
		lock := fmt.Sprintf("hexmage lock %s %s", ch.Toolchain.Name, r.Version)
		if q.Profile != "" {
			lock += " --profile " + q.Profile
		}
		return false, "", fmt.Errorf("neither the catalog nor %s has a digest of this release; run `%s` to download "+
			"and pin it", LockFile, lock)
	}
	return true, "", nil
}

// byHand returns the commands that get the release with Qualcomm's client.
func (s *Source) byHand(r *Release) string {
	if s.Kind == "qsc" {
		return fmt.Sprintf("install the client and run `qsc-cli login -u USER`. Alternatively, run `qsc-cli sdk "+
			"download --name %s --required-version %s --path DIR` on another machine", s.Product, r.Version)
	}
	return fmt.Sprintf("install the client and run `qpm-cli --login`. Alternatively, run `qpm-cli --license-activate "+
		"%s` and `qpm-cli --install %s --version %s --path DIR` on another machine (DIR must be absolute; logs are "+
		"in /var/tmp/qcom/qik/logs)", s.Product, s.Product, r.Version)
}

// agrees returns an error if the digests of the catalog and the lock differ.
func (s *Source) agrees(e *Locked) error {
	for _, d := range []struct{ what, catalog, lock string }{{"sha256", s.SHA256, e.SHA256}, {"tree", s.Tree, e.Tree}} {
		if d.catalog != "" && d.lock != "" && d.catalog != d.lock {
			return fmt.Errorf("the catalog has %[2]s %[3]s, but %[1]s pins %[4]s; to pin the catalog's value, run "+
				"`hexmage lock --upgrade %[5]s`", LockFile, d.what, d.catalog, d.lock,
				e.Name)
		}
	}
	return nil
}

func (m Machine) has(program string) bool {
	_, err := m.find([]string{program})
	return err == nil
}
