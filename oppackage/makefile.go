package oppackage

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
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
	Upper string // "V79": suffix of the variables that users set
}

// Makefile writes a standalone Makefile for a package of that name. It lies in the package's folder and takes what it needs
// from the variables QAIRT_SDK_ROOT, HEXAGON_SDK_ROOT and ANDROID_NDK_ROOT. Its recipes issue the lines that Lines returns.
func Makefile(w io.Writer, name, hvx string, arches []Arch) error {
	if err := ValidateName(name); err != nil {
		return err
	}
	data := struct {
		Package, HVX  string
		Host, Android bool
		Targets       []string
		Common        []string
		Sections      []section
	}{Package: name, HVX: cmp.Or(hvx, DefaultHVX)}
	if err := validHVX(data.HVX); err != nil {
		return err
	}
	for _, a := range arches {
		data.Targets = append(data.Targets, a.Target)
		data.Common = a.Common
		data.Host = data.Host || a.Family == "host"
		data.Android = data.Android || a.Family == "android"
		n := strings.TrimPrefix(a.Target, "htp_")
		own := strings.NewReplacer("$(HEXAGON)", "$(HEXAGON_"+n+")", "$(TOOLS)", "$(TOOLS_"+n+")")
		for _, flags := range []*[]string{&a.CXX, &a.Flags, &a.OpFlags, &a.LinkFlags, &a.Libs} {
			*flags = slices.Clone(*flags)
			for i, f := range *flags {
				(*flags)[i] = own.Replace(f)
			}
		}
		data.Sections = append(data.Sections, section{Arch: a, Name: n, Upper: strings.ToUpper(n)})
	}
	if len(arches) == 0 {
		return fmt.Errorf("makefile of %s: no target is given", name)
	}
	t, err := template.New("Makefile").Funcs(template.FuncMap{
		"join":   func(words []string) string { return strings.Join(words, " ") },
		"wrap":   wrap,
		"dashes": func(target string) string { return strings.Repeat("-", max(0, 112-len(target))) },
	}).Parse(makefileText)
	if err != nil {
		return err
	}
	return t.Execute(w, data)
}

// validHVX refuses what would not survive a Makefile and a shell as it is.
func validHVX(flags string) error {
	for f := range strings.FieldsSeq(flags) {
		if strings.Trim(f, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-=_.") != "" {
			return fmt.Errorf("hvx %q: only compiler flags such as -mhvx=v68 can be here", flags)
		}
	}
	return nil
}

// wrap spells flags for a Makefile, several lines of them if they are long. A flag that the shell would cut is quoted.
func wrap(flags []string) string {
	var lines []string
	line := ""
	for _, f := range flags {
		if strings.ContainsAny(strings.ReplaceAll(f, "$(", ""), "\"'`;&|<> *?[]{}!#\\(") {
			f = "'" + strings.ReplaceAll(f, "'", `'\''`) + "'"
		}
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
