package rename

import "fmt"

// CountError says that a rule that is needed found too few or too many places.
type CountError struct {
	Rule    string // such as `rename "interface_scale"`
	Changed []Place
	Already []Place
	Min     int
	Max     int
	In      string // the pattern or file that was to have them
	Of      string // what the places are of, such as "get_interface_scale"
	To      string // what they are when they need no change, such as "interface_scale"
}

// shownPlaces bounds how many places an error lists.
const shownPlaces = 50

func (e *CountError) Error() string {
	found := len(e.Changed) + len(e.Already)
	text := fmt.Sprintf("%s: %d places of %s and %d of %s, expected %d to %d in %s; ", e.Rule,
		len(e.Changed), e.Of, len(e.Already), e.To, e.Min, e.Max, e.In)
	if found < e.Min {
		text += "is the source the tree this series is for, and are its files where the rule looks?"
	} else {
		text += "does the name mean something else in some of them? If all are right, raise the rule's expect"
	}
	all := append(append([]Place(nil), e.Changed...), e.Already...)
	for i, p := range all {
		if i == shownPlaces {
			return text + fmt.Sprintf("\n  and %d more", len(all)-i)
		}
		text += "\n  " + p.String()
	}
	return text
}

// Count checks the number of places found in a whole tree, and in each of the files that were looked at. What is wrong is a
// *CountError, which has no Rule, Of and To yet.
func (e Expect) Count(patterns, files []string, changed, already []Place) error {
	if found := len(changed) + len(already); found < e.Min || found > e.Max {
		return &CountError{Changed: changed, Already: already, Min: e.Min, Max: e.Max, In: fmt.Sprintf("%q", patterns)}
	}
	if len(e.Files) == 0 {
		return nil
	}
	in := func(file string, all []Place) (own []Place) {
		for _, p := range all {
			if p.File == file {
				own = append(own, p)
			}
		}
		return own
	}
	for _, f := range e.Files {
		for _, file := range files {
			if !Match([]string{f.Pattern}, file) {
				continue
			}
			c, a := in(file, changed), in(file, already)
			if found := len(c) + len(a); found < f.Min || found > f.Max {
				return &CountError{Changed: c, Already: a, Min: f.Min, Max: f.Max, In: file}
			}
		}
	}
	return nil
}

// Count checks the number of places found in the files of a tree that the rule looks at.
func (r Rule) Count(files []string, changed, already []Place) error {
	return Named(r.Expect.Count(r.Files, files, changed, already), fmt.Sprintf("rename %q", r.Name), r.From, r.To)
}

// Named completes what Expect.Count returns.
func Named(err error, rule, of, to string) error {
	if c, ok := err.(*CountError); ok {
		c.Rule, c.Of, c.To = rule, of, to
	}
	return err
}
