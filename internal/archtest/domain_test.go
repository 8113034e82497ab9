package archtest_test

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// domain are words of the world that the domain folders know and the engine does not. Their plurals count, too, and
// one of five letters or more also as a part of another word.
func domain() []string {
	return []string{
		"qualcomm", "snapdragon", "hexagon", "qnn", "qairt", "htp", "npu", "dsp", "adsp", "cdsp", "fastrpc", "adreno",
		"vtcm", "vendor",
		"soc", "arch", "device", "phone", "handset", "emulator", "android", "bionic", "ndk", "adb", "adbd", "logcat",
		"getprop", "fastboot",
		"mllm", "llama", "qwen", "onnx", "gguf", "dlc", "safetensors", "tokenizer", "lpbq", "oppackage",
		"python", "pip", "pypi", "torch", "maven", "npm",
	}
}

// chips are the names that chips (SM8750) and versions of their processors (v79) have.
var chips = regexp.MustCompile(`^(?:(?:sm|sdm|qcs|qcm)[0-9]{3,4}[a-z]{0,2}|v(?:6[5-9]|7[0-9]|8[0-9])[a-z]?)$`)

// domainException is a place below internal/ where a word means something else.
type domainException struct {
	where, word string // a file or a folder; one of the words of domain
	reason      string
}

func domainExceptions() []domainException {
	return []domainException{
		{"internal/archive", "device", "tar has entries for the kernel's devices, which are refused"},
		{"internal/archive", "arch", "an ar archive begins with !<arch>"},
		{"internal/execute/local/hints.go", "device", "the kernel's words for EXDEV"},
		{"internal/execute/local/hostile_linux_test.go", "device", "the kernel's devices, such as /dev/null"},
		{"internal/execute/local/hostile_linux_test.go", "python",
			"a program of the base system that does what no shell can"},
		{"internal/execute/sandbox/others_linux_test.go", "python", "the same"},
		{"internal/execute/sandbox", "device", "the kernel's devices, such as /dev/null"},
		{"internal/execute/sandbox", "arch", "a filter of system calls asks which processor they are for"},
		{"internal/report/page/page.html", "device", "HTML's word for the width of the window"},
		{"internal/report/page/browser_test.go", "npm", "where the browser test gets its driver from"},
	}
}

// domainWord returns the word of domain that the word is or has in it, or "".
func domainWord(word string) string {
	word = strings.ToLower(word)
	for _, d := range domain() {
		if word == d || word == d+"s" || word == d+"es" && strings.HasSuffix(d, "ch") ||
			len(d) >= 5 && strings.Contains(word, d) {
			return d
		}
	}
	return chips.FindString(word)
}

// domainFinding is where a file has a word of the domain first.
type domainFinding struct {
	file string
	line int // 0: in the file's name
	word string
}

// domainWords finds the words of the domain in a file's name and text: names, messages, comments, data. Known are
// words that were asked about before.
func domainWords(known map[string]string, file, text string) (found []domainFinding) {
	// escapes of literals; a name with a capital inside
	plain := strings.NewReplacer(`\n`, " ", `\t`, " ", "SoC", "Soc")
	had := map[string]bool{"": true}
	for n, line := range append([]string{file}, strings.Split(text, "\n")...) {
		for _, run := range runs.FindAllString(plain.Replace(line), -1) {
			d, ok := known[run]
			if !ok {
				for _, word := range append(words(run), run) { // DSPs is no CamelCase
					d = cmp.Or(d, domainWord(word))
				}
				known[run] = d
			}
			if !had[d] {
				had[d] = true
				found = append(found, domainFinding{file, n, d})
			}
		}
	}
	return found
}

// TestDomainWords: internal/ can be read by who knows nothing of the domain, and used for another one.
func TestDomainWords(t *testing.T) {
	used := map[domainException]bool{}
	exceptions, known := domainExceptions(), map[string]string{}
	err := filepath.WalkDir(root("internal"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root(), p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == "internal/archtest" { // its tables name the rooms, and these words
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, f := range domainWords(known, rel, string(b)) {
			if i := slices.IndexFunc(exceptions,
				func(e domainException) bool { return e.word == f.word && below(rel, e.where) }); i >= 0 {
				used[exceptions[i]] = true
				continue
			}
			t.Error(f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range exceptions {
		if !used[e] {
			t.Errorf("the exception of %q in %s (%s) is of no use any more: take it out", e.word, e.where, e.reason)
		}
	}
}

// String says where the word is and what to do.
func (f domainFinding) String() string {
	return f.file + ":" + strconv.Itoa(f.line) + `: "` + f.word +
		`" is a word of the domain, and internal/ knows none. What the engine needs of it comes as a value or a ` +
		"function from steps/ or cmd/hexmage/cli; a fact belongs in qnn/, a format or protocol in the domain folder " +
		"it serves, what joins them in steps/. " +
		"An example takes a neutral word. If it means something else here, such as the kernel's device: " +
		"domainExceptions of internal/archtest"
}

// Planted words are found, however they are spelt, and words that only look like them are not.
func TestDomainWordsBite(t *testing.T) {
	for text, want := range map[string]string{
		"type socTable struct{}": "soc", "var minSoCs int": "soc", "func (QNNContext) x()": "qnn",
		"// the DSPs": "dsp", "`arg:\"soc_model\"`": "soc", "archesByName": "arch",
		`"\nv79"`: "v79", "htp_v73/a.o": "htp", "for SM8750": "sm8750", "#!/usr/bin/env python3": "python",
		"deviceAccess": "device", "smartphones": "phone", "libQnnHtp.so": "qnn",
		"search the archive of an associated pipe": "", "v1 v22 v099 small 0x79": "", "adopt, adbc": "", "SOCKS": "",
		"socket": "", "HTTP": "",
	} {
		got := domainWords(map[string]string{}, "internal/planted/planted.go", "package planted\n\n"+text+"\n")
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%s: found %v", text, got)
		case want == "":
		case len(got) == 0 || got[0].word != want || got[0].line != 3:
			t.Errorf("%s: found %v, want %s", text, got, want)
		}
	}
	if got := domainWords(map[string]string{}, "internal/adb/client.go", "package client\n"); len(got) != 1 ||
		got[0].line != 0 {
		t.Errorf("in a file's name is found %v", got)
	}
	said := domainFinding{"internal/planner/eval.go", 7, "soc"}.String()
	for _, s := range []string{"internal/planner/eval.go:7: ", "as a value or a function from steps/", "qnn/",
		"domainExceptions"} {
		if !strings.Contains(said, s) {
			t.Errorf("%q does not say %q", said, s)
		}
	}
}
