package pypi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// ErrTags is what ParseTags returns, wrapped, for text that names no platform.
var ErrTags = errors.New("no platform of Python's")

// Tags are a platform: the most specific wheel that it takes, as in cp311-cp311-manylinux_2_35_x86_64. What is older or more general, it takes
// too: abi3 and py3, an older manylinux, any.
type Tags struct {
	python, abi string
	minor       int // of cp311: 11; -1 of py3
	family      string
	glibc       [2]int // of manylinux, musllinux
	machine     string
	platform    string
}

var tagsRE = lazyregexp.New(`^(cp3(\d{1,2})|py3)-(cp3\d{1,2}t?|abi3|none)-([a-z0-9_]+)$`)

var linuxRE = lazyregexp.New(`^(manylinux|musllinux)_(\d{1,2})_(\d{1,2})_([a-z0-9_]+)$`)

// ParseTags reads PYTHON-ABI-PLATFORM.
func ParseTags(text string) (Tags, error) {
	m := tagsRE.FindStringSubmatch(text)
	if m == nil {
		return Tags{}, fmt.Errorf("%w: %q; the form is cp311-cp311-manylinux_2_35_x86_64, or py3-none-any", ErrTags, text)
	}
	t := Tags{python: m[1], abi: m[3], minor: -1, platform: m[4]}
	if m[2] != "" {
		t.minor, _ = strconv.Atoi(m[2])
	}
	if l := linuxRE.FindStringSubmatch(t.platform); l != nil {
		t.family, t.machine = l[1], l[4]
		t.glibc[0], _ = strconv.Atoi(l[2])
		t.glibc[1], _ = strconv.Atoi(l[3])
	}
	return t, nil
}

// platforms is how well the platform of a wheel fits, the less the better; ok is false when it does not.
func (t Tags) platforms(wheel string) (rank int, ok bool) {
	if wheel == "any" {
		return 10_000_000, true
	}
	if wheel == t.platform {
		return 0, true
	}
	for old, is := range map[string]string{"manylinux2014_": "manylinux_2_17_", "manylinux2010_": "manylinux_2_12_", "manylinux1_": "manylinux_2_5_"} {
		if rest, ok := strings.CutPrefix(wheel, old); ok {
			wheel = is + rest
		}
	}
	l := linuxRE.FindStringSubmatch(wheel)
	switch {
	case t.machine == "":
		return 0, false
	case wheel == "linux_"+t.machine && t.family == "manylinux":
		return 900, true
	case l == nil || l[1] != t.family || l[4] != t.machine:
		return 0, false
	}
	major, _ := strconv.Atoi(l[2])
	minor, _ := strconv.Atoi(l[3])
	return t.glibc[1] - minor, major == t.glibc[0] && minor <= t.glibc[1]
}

// interpreters is the same for the interpreter and its ABI.
func (t Tags) interpreters(python, abi string) (rank int, ok bool) {
	if python == t.python && abi == t.abi {
		return 0, true
	}
	var older int
	switch {
	case python == "py3" && abi == "none":
		return 1000, true
	case t.minor < 0 || len(python) < 4 || python[2] != '3':
		return 0, false
	}
	older, err := strconv.Atoi(python[3:])
	if err != nil || older < 0 || older > t.minor {
		return 0, false
	}
	switch older = t.minor - older; {
	case python[:2] == "cp" && abi == "abi3" && !strings.HasSuffix(t.abi, "t"):
		return 1 + 2*older, true
	case python[:2] == "cp" && abi == "none" && older == 0:
		return 2, true
	case python[:2] == "py" && abi == "none":
		return 500 + older, true
	}
	return 0, false
}

// fit is how well a wheel fits, by the tags at the end of its name, each of which may be several with dots between.
func (t Tags) fit(w wheelName) (rank int, ok bool) {
	rank = 1 << 30
	for _, python := range w.pythons {
		for _, abi := range w.abis {
			for _, platform := range w.platforms {
				i, fits := t.interpreters(python, abi)
				p, runs := t.platforms(platform)
				if fits && runs {
					rank, ok = min(rank, i*1000+p), true
				}
			}
		}
	}
	return rank, ok
}

// wheelName is what a wheel's name says.
type wheelName struct {
	project, version         string
	build                    int
	pythons, abis, platforms []string
}

var wheelRE = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._]*)-([0-9A-Za-z][0-9A-Za-z.!+_]*)(?:-(\d{1,9})[A-Za-z0-9_.]*)?-([a-z0-9_.]+)-([a-z0-9_.]+)-([A-Za-z0-9_.]+)\.whl$`)

const maxTags = 64 // in a name, of a sort

// parseName reads the name of a wheel; ok is false when it is none.
func parseName(file string) (w wheelName, ok bool) {
	m := wheelRE.FindStringSubmatch(file)
	if m == nil || len(file) > 300 || strings.Contains(file, "..") {
		return w, false
	}
	w = wheelName{project: Normalize(m[1]), version: m[2], pythons: strings.Split(m[4], "."), abis: strings.Split(m[5], "."), platforms: strings.Split(m[6], ".")}
	w.build, _ = strconv.Atoi(m[3])
	return w, len(w.pythons) <= maxTags && len(w.abis) <= maxTags && len(w.platforms) <= maxTags
}

var separators = lazyregexp.New(`[-_.]+`)

// Normalize returns the one form of a project's name: lower case, "-" between words.
func Normalize(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// sameVersion compares versions as the names of files have them: 1.0 and 1.0.0 are one.
func sameVersion(a, b string) bool {
	plain := func(v string) string {
		v, local, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(v, "v")), "+")
		for strings.HasSuffix(v, ".0") {
			v = strings.TrimSuffix(v, ".0")
		}
		return v + "+" + separators.ReplaceAllString(local, ".")
	}
	return plain(a) == plain(b)
}

// best returns the files in the order in which they fit, without those that do not. Of what fits alike the later build comes first.
func (t Tags) best(files []File) []File {
	type ranked struct {
		File
		rank, build int
	}
	var rs []ranked
	for _, f := range files {
		w, ok := parseName(f.Name)
		if !ok {
			continue
		}
		if rank, ok := t.fit(w); ok {
			rs = append(rs, ranked{f, rank, w.build})
		}
	}
	slices.SortStableFunc(rs, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.build, a.build), cmp.Compare(a.Name, b.Name))
	})
	out := make([]File, len(rs))
	for i, r := range rs {
		out[i] = r.File
	}
	return out
}
