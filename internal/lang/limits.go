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

// Limits for calls of functions.
const (
	maxPattern  = 10_000     // bytes of a regular expression
	maxMatching = 50_000_000 // steps of a search: instructions of the pattern times characters read
	matchSteps  = 20         // minimum steps of a match
	maxWidth    = 999        // of a verb of format
	maxCutset   = 1000       // bytes of the characters that trim removes
	maxDistinct = 2000       // elements of distinct, which compares all pairs
)

var (
	errNumberText = fmt.Errorf("the string is too long for a number; the limit is %d bytes", maxNumberText)
	errMatching   = fmt.Errorf("the search needs more than %d million steps; "+
		"use a shorter string or a simpler pattern", maxMatching/1_000_000)

	wideVerb = lazyregexp.New(`%[^%a-zA-Z]*[0-9]{4}`)
)

func textTooLong(n int) error {
	return fmt.Errorf("a string has %d bytes; the limit is %d MiB", n, maxText>>20)
}

// limited returns a function with a check that runs before each call with known, non-null arguments. The function
// itself handles null, unknown and marked arguments.
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
	// The function determines its result type in the call; a separate type check would do the work twice.
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

// limits returns the checks of functions whose results or run time grow fast. Arguments are known, not null and
// unmarked.
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

// grown rejects too large a result of times copies of a string of n bytes.
func grown(times, n int) error {
	if n > 0 && times > maxText/n {
		return textTooLong(times * n)
	}
	return nil
}

func checkIndent(args []cty.Value) error {
	spaces, _ := args[0].AsBigFloat().Float64()
	if spaces > maxText {
		return fmt.Errorf("an indent of %.0f spaces exceeds the string limit of %d MiB", spaces, maxText>>20)
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

// checkParts rejects a string that would split into too many elements.
func checkParts(text, separators string) error {
	n := 0
	for _, c := range separators {
		n += strings.Count(text, string(c))
	}
	return checkCount(n)
}

func checkCount(n int) error {
	if n > maxParts {
		return fmt.Errorf("a list has %d elements; the limit is %d", n, maxParts)
	}
	return nil
}

func checkTrim(args []cty.Value) error {
	if n := len(args[1].AsString()); n > maxCutset {
		return fmt.Errorf("the characters to trim have %d bytes; the limit is %d", n, maxCutset)
	}
	return nil
}

// CheckNumberText returns an error if a string is too long to be parsed as a number, because parsing takes quadratic
// time.
func CheckNumberText(v cty.Value) error {
	v, _ = v.Unmark()
	if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && len(v.AsString()) > maxNumberText {
		return errNumberText
	}
	return nil
}

func checkDistinct(args []cty.Value) error {
	if n := args[0].LengthInt(); n > maxDistinct {
		return fmt.Errorf("the list has %d elements, but distinct takes at most %d; use toset", n, maxDistinct)
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

// checkFormat rejects very wide verbs: %999999999d.
func checkFormat(args []cty.Value) error {
	verbs := args[0].AsString()
	if wideVerb.MatchString(verbs) {
		return fmt.Errorf("a width or precision in the format exceeds %d", maxWidth)
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

// notJSON reports where a string stops being JSON.
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
	return fmt.Errorf("the JSON is invalid at line %d, column %d (%s); correct the JSON",
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

// match finds all matches of a pattern, counts the steps, and returns the number and total bytes of the matches. One
// match takes time linear in the text; all matches in sequence may take longer. It finds nothing for an invalid
// pattern.
func match(pattern, text string) (n, matched int, err error) {
	if len(pattern) > maxPattern {
		return 0, 0, fmt.Errorf("the pattern has %d bytes; the limit is %d", len(pattern), maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, 0, nil // the function reports the error
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

// countingReader counts the characters read.
type countingReader struct {
	*strings.Reader
	read int
}

// ReadRune implements io.RuneReader.
func (r *countingReader) ReadRune() (rune, int, error) {
	r.read++
	return r.Reader.ReadRune()
}
