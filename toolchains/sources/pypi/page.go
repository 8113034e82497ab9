package pypi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
)

// File is a wheel that an index offers.
type File struct {
	Name   string
	URL    string
	Size   int64  // bytes; 0 if unknown
	SHA256 string // "" if unknown
}

const (
	maxPage  = 128 << 20 // bytes of a page
	maxFiles = 500_000   // of a project
	maxURL   = 4096      // bytes of an address
)

// forms are the media types of pages: PEP 691, and PEP 503 for an index without it.
const forms = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"

// parsePage returns the files on the page at an address. It leaves out files that cannot be fetched.
func parsePage(b []byte, at string) ([]File, error) {
	base, err := url.Parse(at)
	if err != nil {
		return nil, errors.New("invalid address")
	}
	base.User = nil
	if head := bytes.TrimSpace(b); len(head) > 0 && head[0] == '{' {
		return parseJSON(head, base)
	}
	return parseHTML(b, base)
}

func parseJSON(b []byte, base *url.URL) ([]File, error) {
	var page struct {
		Meta struct {
			Version string `json:"api-version"`
		} `json:"meta"`
		Files []struct {
			Name   string            `json:"filename"`
			URL    string            `json:"url"`
			Hashes map[string]string `json:"hashes"`
			Size   int64             `json:"size"`
		} `json:"files"`
	}
	if err := json.Unmarshal(b, &page); err != nil {
		return nil, fmt.Errorf("invalid JSON: %.100s", err)
	}
	if major, _, _ := strings.Cut(page.Meta.Version, "."); major != "1" {
		return nil, fmt.Errorf("unsupported API version %.20q, expected 1", page.Meta.Version)
	}
	if len(page.Files) > maxFiles {
		return nil, fmt.Errorf("the page has more than %d files", maxFiles)
	}
	var out []File
	for _, f := range page.Files {
		file, ok := place(f.URL, base)
		if !ok || file.Name != f.Name || f.Size < 0 {
			continue
		}
		if sum := strings.ToLower(f.Hashes["sha256"]); isSum(sum) {
			file.SHA256 = sum
		}
		file.Size = f.Size
		out = append(out, file)
	}
	return out, nil
}

func parseHTML(b []byte, base *url.URL) ([]File, error) {
	z := html.NewTokenizer(bytes.NewReader(b))
	z.SetMaxBuf(1 << 20)
	var out []File
	tags := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return nil, err
			}
			if tags == 0 {
				return nil, errors.New("the page is neither JSON nor HTML")
			}
			return out, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			tags++
			t := z.Token()
			attr := map[string]string{}
			for _, a := range t.Attr {
				if _, twice := attr[a.Key]; !twice {
					attr[a.Key] = a.Val
				}
			}
			switch t.Data {
			case "base":
				if u, err := base.Parse(attr["href"]); err == nil && attr["href"] != "" && follows(base, u) {
					base = u
				}
			case "meta":
				if v := attr["content"]; attr["name"] == "pypi:repository-version" && v != "1" && !strings.HasPrefix(v, "1.") {
					return nil, fmt.Errorf("unsupported API version %.20q, expected 1", v)
				}
			case "a":
				file, ok := place(attr["href"], base)
				if !ok {
					continue
				}
				if out = append(out, file); len(out) > maxFiles {
					return nil, fmt.Errorf("the page has more than %d files", maxFiles)
				}
			}
		}
	}
}

// place reads a link to a file. ok is false if the link does not lead to a wheel.
func place(link string, base *url.URL) (f File, ok bool) {
	if link == "" || len(link) > maxURL {
		return f, false
	}
	u, err := base.Parse(link)
	if err != nil || !follows(base, u) {
		return f, false
	}
	sum, is := strings.CutPrefix(strings.ToLower(u.Fragment), "sha256=")
	sum, _, _ = strings.Cut(sum, "&")
	if is && isSum(sum) {
		f.SHA256 = sum
	}
	u.Fragment, u.RawFragment = "", ""
	f.Name, f.URL = path.Base(u.Path), u.String()
	_, _, _, ok = parseName(f.Name)
	return f, ok
}

// follows reports whether a page may link to an address: not from https to http, and not to files of this machine.
func follows(page, to *url.URL) bool {
	return (to.Scheme == page.Scheme || to.Scheme == "https") && to.User == nil
}

func isSum(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
