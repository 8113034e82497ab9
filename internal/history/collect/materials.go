package collect

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

const (
	maxInputs = 200 // of one action; of more, folders are told by one digest
	maxLength = 200 // bytes of a value
)

// materials says what the action's key was made of: by "toolchain NAME", "input PATH", "program NAME", "argument N", "variable NAME", "property NAME", what it was.
func materials(ctx context.Context, l loadedAction) map[string]string {
	of := map[string]string{}
	inputs(ctx, of, l)
	for i, arg := range l.action.Command.Args {
		of["argument "+strconv.Itoa(i)] = cut(arg)
	}
	for name, value := range l.action.Command.Env {
		of["variable "+name] = cut(value)
	}
	for name, value := range l.action.Command.Platform {
		if program, ok := strings.CutPrefix(name, action.PropertyProgram); ok {
			of["program "+program] = short(value)
		} else {
			of["property "+name] = cut(value)
		}
	}
	return of
}

// inputs adds the folders and files of the exec root, level by level while there is room for a level.
func inputs(ctx context.Context, of map[string]string, l loadedAction) {
	type folder struct {
		at  string
		dir *merkle.Dir
	}
	level := []folder{{"", merkle.Ref(l.action.InputRoot)}}
	for depth := 0; len(level) > 0 && depth < 100; depth++ {
		var next []folder
		found := map[string]string{}
		closed := map[string]string{} // the level's folders, by their digests
		for _, f := range level {
			if ref, ok := f.dir.Ref(); ok && f.at != "" {
				closed["input "+f.at+"/"] = "folder " + ref.Short()
			}
			opened, err := f.dir.Open(ctx, l.blobs)
			if err != nil {
				found["input "+f.at+"/"] = closed["input "+f.at+"/"]
				continue
			}
			for name, file := range opened.Files {
				text := fmt.Sprintf("%s (%d bytes)", file.Digest.Short(), file.Digest.Size())
				if file.Executable {
					text += ", executable"
				}
				found["input "+path.Join(f.at, name)] = text
			}
			for name, target := range opened.Symlinks {
				found["input "+path.Join(f.at, name)] = "symlink to " + cut(target)
			}
			for name, dir := range opened.Dirs {
				if ref, ok := dir.Ref(); ok && f.at == "toolchains" {
					found["toolchain "+name] = ref.Short()
				} else {
					next = append(next, folder{path.Join(f.at, name), dir})
				}
			}
		}
		if len(of)+len(found)+len(next) > maxInputs {
			found = closed
			next = nil
		}
		for k, v := range found {
			of[k] = v
		}
		level = next
	}
}

func cut(s string) string {
	if len(s) <= maxLength {
		return s
	}
	return strings.ToValidUTF8(s[:maxLength], "") + "…"
}

func short(s string) string {
	if d, err := digest.Parse(s); err == nil {
		return d.Short()
	}
	return cut(s)
}
