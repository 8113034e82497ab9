// Package secret keeps sensitive values out of plans, cache keys, logs and outputs. A Text is part of a plan and
// contains references to values. Values contains the values for one run. A Set contains the secrets of one command, and
// removes them from output.
//
// The package does not know which values are secret, or how a command receives them.
package secret

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Hidden is the placeholder for a sensitive value.
const Hidden = "(sensitive)"

// MinLength is the minimum length in bytes of a secret value. Output may contain a shorter text by chance.
const MinLength = 4

// Text is a sensitive text in a plan, such as "Bearer ${var.token}". It contains literals and references to values.
type Text []Part

// Part is a literal or a reference, such as `var.token` or `var.logins["host"]`.
type Part struct {
	Literal, Ref string
}

// String returns the text as a template, such as "Bearer ${var.token}", in which $$ stands for $. The template contains
// no sensitive value.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		if p.Ref != "" {
			b.WriteString("${" + p.Ref + "}")
		} else {
			b.WriteString(strings.ReplaceAll(p.Literal, "$", "$$"))
		}
	}
	return b.String()
}

// Parse parses a template that String returned.
func Parse(s string) (Text, error) {
	var t Text
	var literal strings.Builder
	end := func() {
		if literal.Len() > 0 {
			t = append(t, Part{Literal: literal.String()})
			literal.Reset()
		}
	}
	for len(s) > 0 {
		switch {
		case strings.HasPrefix(s, "$$"):
			literal.WriteByte('$')
			s = s[2:]
		case strings.HasPrefix(s, "${"):
			n := refEnd(s[2:])
			if n <= 0 {
				return nil, errors.New("unterminated reference to a secret")
			}
			end()
			t = append(t, Part{Ref: s[2 : 2+n]})
			s = s[2+n+1:]
		default:
			literal.WriteByte(s[0])
			s = s[1:]
		}
	}
	end()
	return t, nil
}

// refEnd is where a reference ends, at a brace that is in no quotes, or -1.
func refEnd(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '}' && !quoted:
			return i
		}
	}
	return -1
}

// Fill returns the text with each reference replaced by the value.
func (t Text) Fill(v Values) (string, error) {
	var b strings.Builder
	for _, p := range t {
		if p.Ref == "" {
			b.WriteString(p.Literal)
			continue
		}
		value, ok := v[p.Ref]
		if !ok {
			return "", fmt.Errorf("the value of %s is missing", p.Ref)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// Refs returns all references in the text.
func (t Text) Refs() []string {
	var refs []string
	for _, p := range t {
		if p.Ref != "" {
			refs = append(refs, p.Ref)
		}
	}
	return refs
}

// Values maps references to sensitive values. Printing Values does not show the values.
type Values map[string]string

// Format prints the placeholder Hidden instead of the values.
func (v Values) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

// MarshalText returns the placeholder Hidden instead of the values.
func (v Values) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// Set contains the secrets of one command. Printing a Set does not show the secrets. A nil Set is empty.
type Set struct {
	env, files map[string]string
	forms      [][]byte          // of its values, as they may be seen
	refs       map[string]string // of each form: to the value
	longest    int               // of forms
}

// NewSet returns the Set of a command, and fills in the values v. The map env contains the texts of environment
// variables, by name. The map files contains the texts of secret files. The key of a file is the name of the
// environment variable that will hold the file's path.
func NewSet(env, files map[string]Text, v Values) (*Set, error) {
	s := &Set{env: make(map[string]string, len(env)), files: make(map[string]string, len(files)),
		refs: map[string]string{}}
	used := map[string]bool{}
	for to, from := range map[*map[string]string]map[string]Text{&s.env: env, &s.files: files} {
		for name, t := range from {
			text, err := t.Fill(v)
			if err != nil {
				return nil, err
			}
			if to == &s.env && strings.ContainsRune(text, 0) {
				return nil, fmt.Errorf("the value of %s has a zero byte, which environment variables cannot "+
					"contain; use a secret_file", name)
			}
			(*to)[name] = text
			for _, r := range t.Refs() {
				used[r] = true
			}
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(used)) {
		for _, f := range forms(v[ref]) {
			if s.refs[f] == "" {
				s.refs[f] = ref
				s.forms = append(s.forms, []byte(f))
				s.longest = max(s.longest, len(f))
			}
		}
	}
	return s, nil
}

// Env returns the environment variables with secrets, by name. Callers must not change the map.
func (s *Set) Env() map[string]string {
	if s == nil {
		return nil
	}
	return s.env
}

// Files returns the contents of the secret files. The key of a file is the name of the environment variable that will
// hold the file's path. Callers must not change the map.
func (s *Set) Files() map[string]string {
	if s == nil {
		return nil
	}
	return s.files
}

// Format prints the placeholder Hidden instead of the secrets.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

// MarshalText returns the placeholder Hidden instead of the secrets.
func (s *Set) MarshalText() ([]byte, error) { return []byte(Hidden), nil }
