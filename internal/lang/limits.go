package lang

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Limits of single functions.
const (
	maxPattern  = 10_000     // bytes of a regular expression
	maxMatching = 50_000_000 // steps of looking for matches: instructions of the pattern times characters read
	matchSteps  = 20         // that finding a match is in any case
	maxWidth    = 999        // of a verb of format
	maxCutset   = 1000       // bytes of what trim takes away
	maxDistinct = 2000       // elements for distinct, which compares each with each
)

var (
	errNumberText = fmt.Errorf("a text of more than %d bytes is no number", maxNumberText)
	errMatching   = fmt.Errorf("looking for this pattern in this text is more than %d million steps: "+
		"use a shorter text or a simpler pattern", maxMatching/1_000_000)

	wideVerb = lazyregexp.New(`%[^%a-zA-Z]*[0-9]{4}`)
)

func textTooLong(n int) error {
	return fmt.Errorf("a text has %d bytes, more than %d MiB", n, maxText>>20)
}

// limited is a function whose arguments check sees before it is called, if they are known and not null. Everything
// else is left to the function: which arguments may be null, unknown or marked.
func limited(f function.Function, check func(args []cty.Value) error) function.Function {
	open := func(p function.Parameter) function.Parameter {
		p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
		return p
	}
	spec := &function.Spec{Description: f.Description()}
	for _, p := range f.Params() {
		spec.Params = append(spec.Params, open(p))
	}
	if p := f.VarParam(); p != nil {
		v := open(*p)
		spec.VarParam = &v
	}
	// The function itself finds the type of the result when it is called: twice would be twice the work.
	spec.Type = function.StaticReturnType(cty.DynamicPseudoType)
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		plain := make([]cty.Value, len(args))
		known := true
		for i, a := range args {
			plain[i], _ = a.UnmarkDeep()
			known = known && plain[i].IsWhollyKnown() && !plain[i].IsNull()
		}
		if known {
			if err := check(plain); err != nil {
				return cty.NilVal, err
			}
		}
		return f.Call(args)
	}
	return function.New(spec)
}

// limits are what functions look at before they are called: those that make much of little, or take long over it.
// Arguments are known, not null and have no marks.
func limits() map[string]func([]cty.Value) error {
	return map[string]func([]cty.Value) error{
		"csvdecode":    func(args []cty.Value) error { return checkParts(args[0].AsString(), ",\n") },
		"distinct":     checkDistinct,
		"format":       checkFormat,
		"formatlist":   checkFormat,
		"indent":       checkIndent,
		"join":         checkJoin,
		"jsondecode":   checkJSON,
		"parseint":     func(args []cty.Value) error { return CheckNumberText(args[0]) },
		"regex":        checkRegex,
		"regexall":     checkRegex,
		"regexreplace": checkRegexReplace,
		"replace":      checkReplace,
		"setproduct":   checkSetProduct,
		"split":        checkSplit,
		"tonumber":     func(args []cty.Value) error { return CheckNumberText(args[0]) },
		"trim":         checkTrim,
	}
}

// grown refuses times copies of a text of n bytes.
func grown(times, n int) error {
	if n > 0 && times > maxText/n {
		return textTooLong(times * n)
	}
	return nil
}

func checkIndent(args []cty.Value) error {
	spaces, _ := args[0].AsBigFloat().Float64()
	if spaces > maxText {
		return fmt.Errorf("%.0f spaces are more than a text can have", spaces)
	}
	return grown(strings.Count(args[1].AsString(), "\n")+1, max(int(spaces), 0))
}

func checkReplace(args []cty.Value) error {
	return grown(strings.Count(args[0].AsString(), args[1].AsString()), len(args[2].AsString()))
}

func checkJoin(args []cty.Value) error {
	n := 0
	for _, l := range args[1:] {
		n += l.LengthInt()
	}
	return grown(n, len(args[0].AsString()))
}

func checkSplit(args []cty.Value) error {
	return checkCount(strings.Count(args[1].AsString(), args[0].AsString()) + 1)
}

// checkParts refuses a text that would make more than a list may have.
func checkParts(text, separators string) error {
	n := 0
	for _, c := range separators {
		n += strings.Count(text, string(c))
	}
	return checkCount(n)
}

func checkCount(n int) error {
	if n > maxParts {
		return fmt.Errorf("a list has %d elements, more than %d", n, maxParts)
	}
	return nil
}

func checkTrim(args []cty.Value) error {
	if n := len(args[1].AsString()); n > maxCutset {
		return fmt.Errorf("%d characters to take away are more than %d", n, maxCutset)
	}
	return nil
}

// CheckNumberText refuses texts that are too long to be numbers: to read one takes a time that is quadratic in its
// length.
func CheckNumberText(v cty.Value) error {
	v, _ = v.Unmark()
	if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && len(v.AsString()) > maxNumberText {
		return errNumberText
	}
	return nil
}

func checkDistinct(args []cty.Value) error {
	if n := args[0].LengthInt(); n > maxDistinct {
		return fmt.Errorf("a list has %d elements, more than %d: use toset", n, maxDistinct)
	}
	return nil
}

func checkSetProduct(args []cty.Value) error {
	n := len(args)
	for _, a := range args {
		if !a.CanIterateElements() || a.LengthInt() == 0 {
			return nil // the function reports an error, or returns nothing
		}
		n *= a.LengthInt()
		if err := checkCount(n); err != nil {
			return err
		}
	}
	return nil
}

// checkFormat refuses verbs that are wider than any line: %999999999d.
func checkFormat(args []cty.Value) error {
	verbs := args[0].AsString()
	if wideVerb.MatchString(verbs) {
		return fmt.Errorf("a width or precision is more than %d", maxWidth)
	}
	return grown(strings.Count(verbs, "%"), maxWidth)
}

func checkJSON(args []cty.Value) error {
	text := args[0].AsString()
	if err := checkParts(text, ",[{"); err != nil {
		return err
	}
	return notJSON(text)
}

// notJSON says where a text stops being JSON.
func notJSON(text string) error {
	if json.Valid([]byte(text)) {
		return nil
	}
	var wrong *json.SyntaxError
	if err := json.Unmarshal([]byte(text), new(json.RawMessage)); !errors.As(err, &wrong) {
		return err
	}
	before := text[:min(max(int(wrong.Offset)-1, 0), len(text))]
	line, column := 1+strings.Count(before, "\n"),
		1+utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("the text is no JSON from line %d, column %d on: %s: correct it there",
		line, column, strings.TrimPrefix(wrong.Error(), "json: "))
}

func checkRegex(args []cty.Value) error {
	_, _, err := match(args[0].AsString(), args[1].AsString())
	return err
}

func checkRegexReplace(args []cty.Value) error {
	n, matched, err := match(args[1].AsString(), args[0].AsString())
	if err != nil {
		return err
	}
	with := args[2].AsString()
	if err := grown(n, len(with)); err != nil {
		return err
	}
	return grown(strings.Count(with, "$"), matched)
}

// match looks for all matches of a pattern, counting what that takes, and returns how many there are and how many
// bytes they have. One match is found in a time that is linear in the text; all of them, one after the other, in one
// that need not be. It finds nothing for what is no pattern.
func match(pattern, text string) (n, matched int, err error) {
	if len(pattern) > maxPattern {
		return 0, 0, fmt.Errorf("a pattern has %d bytes, more than %d", len(pattern), maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, 0, nil // the function says what is wrong
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, 0, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return 0, 0, nil
	}
	if len(text)*len(prog.Inst) > maxMatching {
		return 0, 0, errMatching
	}
	steps := 0
	for at := 0; at <= len(text); {
		in := &countingReader{Reader: strings.NewReader(text[at:])}
		loc := re.FindReaderIndex(in)
		if steps += in.read*len(prog.Inst) + matchSteps; steps > maxMatching {
			return 0, 0, errMatching
		}
		if loc == nil {
			break
		}
		n++
		matched += loc[1] - loc[0]
		at += max(loc[1], 1)
	}
	return n, matched, nil
}

// countingReader counts the characters that are read.
type countingReader struct {
	*strings.Reader
	read int
}

// ReadRune reads a character.
func (r *countingReader) ReadRune() (rune, int, error) {
	r.read++
	return r.Reader.ReadRune()
}
