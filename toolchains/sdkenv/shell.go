package sdkenv

import (
	"fmt"
	"io"
	"strings"
)

// Shells are the shells that Write knows. The lines for bash are those of any POSIX shell.
func Shells() []string { return []string{"bash", "zsh", "sh", "fish", "powershell"} }

// Write writes one line for each variable which sets it in the shell, whatever is in its value.
func Write(w io.Writer, shell string, vars []Var) error {
	line, ok := map[string]func(Var) string{
		"bash": posix, "zsh": posix, "sh": posix, "fish": fish, "powershell": powershell,
	}[shell]
	if !ok {
		return fmt.Errorf("shell %q is not known: use one of %s", shell, strings.Join(Shells(), ", "))
	}
	var b strings.Builder
	for _, v := range vars {
		b.WriteString(line(v) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// posix quotes all but plain words: in single quotes nothing has a meaning but the quote that ends them.
func posix(v Var) string {
	if plain(v.Value) {
		return "export " + v.Name + "=" + v.Value
	}
	return "export " + v.Name + "='" + strings.ReplaceAll(v.Value, "'", `'\''`) + "'"
}

// plain tells whether every shell takes the text as it is.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._-+:,@%", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// fish has real lists; those that end with PATH it joins with ":" for programs.
func fish(v Var) string {
	parts := []string{v.Value}
	if v.List && strings.HasSuffix(v.Name, "PATH") {
		parts = strings.Split(v.Value, ":")
	}
	var b strings.Builder
	b.WriteString("set -gx " + v.Name)
	for _, p := range parts {
		b.WriteString(" '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p) + "'")
	}
	return b.String()
}

// powershell takes typographic quotes for plain ones, and two of any kind for one.
func powershell(v Var) string {
	var b strings.Builder
	for _, r := range v.Value {
		b.WriteRune(r)
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			b.WriteRune(r)
		}
	}
	return "$env:" + v.Name + " = '" + b.String() + "'"
}
