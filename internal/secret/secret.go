// Package secret has what is done with sensitive values. A Text says what a value is made from without having it, and
// is data of a plan; Values are those of one run; a Set is what one command is given, and takes what it has out of
// whatever is shown or kept.
//
// The package does not know who decides what is secret, nor how a command gets it.
package secret

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Hidden stands for a sensitive value wherever one would be shown.
const Hidden = "(sensitive)"

// MinLength is how many bytes a value has at least that can be found in what a command writes. A shorter one stands
// everywhere by chance.
const MinLength = 4

// Text is a sensitive text as a plan has it: what is around the values, and where they come from.
type Text []Part

// Part is a literal, or a reference such as `var.token` or `var.logins["host"]`.
type Part struct {
	Literal, Ref string
}

// String writes the text as a template, in which $$ stands for $: "Bearer ${var.token}". It shows no value.
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

// Parse reads what String wrote.
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
				return nil, errors.New("a reference to a secret does not end")
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

// Fill puts the values in.
func (t Text) Fill(v Values) (string, error) {
	var b strings.Builder
	for _, p := range t {
		if p.Ref == "" {
			b.WriteString(p.Literal)
			continue
		}
		value, ok := v[p.Ref]
		if !ok {
			return "", fmt.Errorf("%s has no value", p.Ref)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// Refs are the references of the text.
func (t Text) Refs() []string {
	var refs []string
	for _, p := range t {
		if p.Ref != "" {
			refs = append(refs, p.Ref)
		}
	}
	return refs
}

// Values are those of sensitive variables, by reference. They do not print.
type Values map[string]string

// Format prints Hidden.
func (v Values) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

// MarshalText prints Hidden.
func (v Values) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// Set is what a command gets that nobody else may see. It does not print. Nil is an empty one.
type Set struct {
	env, files map[string]string
	forms      [][]byte          // of its values, as they may be seen
	refs       map[string]string // of each form: to the value
	longest    int               // of forms
}

// NewSet fills the texts of variables of the environment, and of files by the variables that have their paths.
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
				return nil, fmt.Errorf("the value of %s has a zero byte, which no variable of the environment can "+
					"have: use a secret_file", name)
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

// Env has variables of the command's environment. Nobody changes it.
func (s *Set) Env() map[string]string {
	if s == nil {
		return nil
	}
	return s.env
}

// Files has the content of files, by the variable of the command's environment that has the path. Nobody changes it.
func (s *Set) Files() map[string]string {
	if s == nil {
		return nil
	}
	return s.files
}

// Format prints Hidden.
func (s *Set) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

// MarshalText prints Hidden.
func (s *Set) MarshalText() ([]byte, error) { return []byte(Hidden), nil }
