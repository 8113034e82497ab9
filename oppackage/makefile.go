package oppackage

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/template"
)

//go:embed makefile.tmpl
var makefileText string

// section is one target of the Makefile.
type section struct {
	Arch
	Name  string // "v79": suffix of the target's variables
	Upper string // "V79": suffix of the variables for users
	Extra []string
	More  []string // the package's own linker flags
	Files []fileFlags
}

// fileFlags holds the flags of one source.
type fileFlags struct {
	Object string // below the target's folder
	Flags  []string
}

// page is the input of the template.
type page struct {
	Package, HVX string
	Host         bool
	Android      bool
	Targets      []string
	Common       []string
	Sections     []section
}

// Makefile writes a Makefile for a package's folder. The Makefile reads the variables QAIRT_SDK_ROOT, HEXAGON_SDK_ROOT
// and ANDROID_NDK_ROOT, and runs the command lines that Lines returns.
//
// The function ignores p.Dir, p.Build and p.Interface. It uses p.Files only to match the sources of extras.
func Makefile(w io.Writer, p Package, arches []Arch) error {
	if err := ValidateName(p.Name); err != nil {
		return err
	}
	d := page{Package: p.Name, HVX: cmp.Or(p.HVX, DefaultHVX)}
	if err := validHVX(d.HVX); err != nil {
		return err
	}
	if err := p.validateExtras(); err != nil {
		return err
	}
	for _, e := range p.Extras {
		if len(e.Rooted) > 0 {
			return fmt.Errorf("makefile of %s: include folder %s is another step's output, which a Makefile cannot build: "+
				"remove the folder", p.Name, e.Rooted[0])
		}
	}
	p.Dir = ""
	for _, a := range arches {
		d.Targets = append(d.Targets, a.Target)
		d.Common = a.Common
		d.Host = d.Host || a.Family == "host"
		d.Android = d.Android || a.Family == "android"
		d.Sections = append(d.Sections, newSection(a, p))
	}
	if len(arches) == 0 {
		return fmt.Errorf("makefile of %s: missing target: name one", p.Name)
	}
	t, err := template.New("Makefile").Funcs(template.FuncMap{
		"join":    func(words []string) string { return strings.Join(words, " ") },
		"wrap":    wrap,
		"literal": literal,
		"dashes":  func(target string) string { return strings.Repeat("-", max(0, 112-len(target))) },
	}).Parse(makefileText)
	if err != nil {
		return err
	}
	return t.Execute(w, d)
}

func newSection(a Arch, p Package) section {
	n := strings.TrimPrefix(a.Target, "htp_")
	own := strings.NewReplacer("$(HEXAGON)", "$(HEXAGON_"+n+")", "$(TOOLS)", "$(TOOLS_"+n+")")
	for _, flags := range []*[]string{&a.CXX, &a.Flags, &a.OpFlags, &a.LinkFlags, &a.Libs} {
		*flags = slices.Clone(*flags)
		for i, f := range *flags {
			(*flags)[i] = own.Replace(f)
		}
	}
	s := section{Arch: a, Name: n, Upper: strings.ToUpper(n), Extra: p.extraFlags(a.Target, ""), More: p.linkFlags(a.Target)}
	set := sources(p.Files, a.Asm)
	for _, src := range slices.Concat(set.plain, set.ops, set.asm) {
		if f := p.extraFlags(a.Target, src)[len(s.Extra):]; len(f) > 0 {
			s.Files = append(s.Files, fileFlags{strings.TrimPrefix(strings.TrimSuffix(src, path.Ext(src)), "src/") + ".o", f})
		}
	}
	return s
}

// validHVX rejects characters that a Makefile or a shell would change.
func validHVX(flags string) error {
	for f := range strings.FieldsSeq(flags) {
		if strings.Trim(f, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-=_.") != "" {
			return fmt.Errorf("hvx %q: invalid compiler flag: use flags such as -mhvx=v68", flags)
		}
	}
	return nil
}

// wrap writes flags for a Makefile, long lists in several lines. It quotes flags that the shell would split.
func wrap(flags []string) string {
	var lines []string
	line := ""
	for _, f := range flags {
		f = quoted(f, strings.ReplaceAll(f, "$(", ""))
		if line != "" && len(line)+1+len(f) > 110 {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += f
	}
	lines = append(lines, line)
	if len(lines) == 1 && len(line) < 90 {
		return line
	}
	return "\\\n  " + strings.Join(lines, " \\\n  ")
}

// literal writes flags for a Makefile without references.
func literal(flags []string) string {
	var out []string
	for _, f := range flags {
		out = append(out, strings.NewReplacer("$", "$$", "#", `\#`).Replace(quoted(f, f+strings.Repeat("'", strings.Count(f, "$")))))
	}
	return strings.Join(out, " ")
}

// quoted quotes a flag for the shell if seen holds special characters.
func quoted(flag, seen string) string {
	if strings.ContainsAny(seen, "\"'`;&|<> *?[]{}!#\\(~") {
		return "'" + strings.ReplaceAll(flag, "'", `'\''`) + "'"
	}
	return flag
}
