package qpm

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// explain returns the remedy for a failure by a client's output and log, "" if unknown.
func explain(name, text string) string {
	login := loginCommand(name)
	list := map[string]string{"qsc-cli": "qsc-cli sdk info", "qpm-cli": "qpm-cli --product-list"}[name]
	for _, cause := range []struct{ pattern, remedy string }{
		{`not logged in|please log ?in|session expired|token expired|username:`,
			"The client has no valid login: run `" + login + "` and try again."},
		{`login failed|agreement`, "Accept Qualcomm's agreements again at " + agreements +
			" with the account's browser login, run `" + login + "`, and try again."},
		{`\b401\b|unauthorized|403 forbidden|access (is )?denied|not entitled|no entitlement`,
			"Qualcomm's server does not give this product to this account (401). Run `" + login + "` again, and " +
				"accept the " +
				"agreements at " + agreements + ". To see whether the account may download the product, open the " +
				"product's page " +
				"in a browser. If it may not, use a release that needs no account (source = \"archive\"), or an " +
				"installed " +
				"copy (source = \"installed\", path = …)."},
		{`licen`, "The product's license is not active. Open the product's page in a browser, accept the license, " +
			"and try again."},
		{`no such product|(product|version) not found|not found in the catalog|invalid product|no matching version`,
			"The client does not find the product or the version. Run `" + list + "` lists the account's products."},
		{`no space left`, "A disk is full. The client needs space for the package and its content, also in /tmp and " +
			"/var/tmp."},
		{`could not resolve|name resolution|connection refused|timed out|proxy`,
			"Qualcomm's servers do not answer. Check the network and the proxy settings (HTTPS_PROXY)."},
	} {
		if regexp.MustCompile(`(?i)` + cause.pattern).MatchString(text) {
			return cause.remedy
		}
	}
	return ""
}

const (
	agreements = "https://www.qualcomm.com/agreements"
	maxLog     = 64 << 10 // bytes at the end of a log
	maxShown   = 5        // lines
)

// log returns the newest log file written since started, and the end of its text.
func (c Client) log(started time.Time) (newest, text string) {
	folders := c.Logs
	if folders == nil {
		folders = []string{"/var/tmp/qcom/qik/logs", "/var/tmp/qcom/qpm3/logs", "/var/tmp/qcom/qsc/logs",
			filepath.Join(c.Home, ".qpm/logs"), filepath.Join(c.Home, ".qsc/logs")}
	}
	when := started.Add(-time.Second)
	for _, f := range folders {
		_ = filepath.WalkDir(f, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if info, err := d.Info(); err == nil && !info.ModTime().Before(when) {
				newest, when = p, info.ModTime()
			}
			return nil
		})
	}
	f, err := os.Open(newest)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-maxLog), io.SeekStart)
	}
	b, _ := io.ReadAll(io.LimitReader(f, maxLog))
	return newest, strings.ToValidUTF8(string(b), "")
}

var errorRE = lazyregexp.New(`(?i)error|fail|exception|denied|unauthor|40[13]|refus|expired`)

// lastLines returns the last lines, or of a log the last lines about errors if there are any.
func lastLines(text string, log bool) []string {
	var lines, errors []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = clean(line); line == "" {
			continue
		}
		if lines = append(lines, line); errorRE.MatchString(line) {
			errors = append(errors, line)
		}
	}
	if log && len(errors) > 0 {
		lines = errors
	}
	return lines[max(0, len(lines)-maxShown):]
}
