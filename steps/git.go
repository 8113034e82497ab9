package steps

import (
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Git holds the arguments of a git step, which checks out the files of one commit.
type Git struct {
	URL step.Path `arg:"url,required"`
	git.Spec
}

func gitSchema() step.Schema {
	return step.Schema{
		Summary: "Takes the files of one commit of a git repository.",
		ArgDocs: map[string]string{
			"url": "Address of the repository (https, http, ssh, git), or the path of one on this " +
				"machine (its folder, or its .git folder).",
			"commit": "Full commit id: 40 hexadecimal digits. A branch or tag can move.",
			"sub":    "Only this folder of the repository.",
			"submodules": "Whether to take the files of submodules too, at the commits that the commit names. " +
				"Without it, their folders are empty. Submodules with `update = none` stay empty.",
			"submodule_paths": "Only the submodules at these paths of the repository, with all submodules in them.",
		},
		Outputs: []step.OutputSpec{step.Tree("dir", "The files of the commit, without .git.")},
		Example: `step "git" "mllm" {
  url    = "https://github.com/UbiquitousLearning/mllm"
  commit = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
}`,
	}
}

var remoteRE = lazyregexp.New(`^((https?|ssh|git)://|[\w.-]+@[\w.-]+:)`)

// Plan plans the checkout.
func (g Git) Plan(p *step.Plan) {
	addr, s := g.URL.String(), g.Spec
	s.Commit = strings.ToLower(s.Commit)
	if len(s.Commit) != 40 || strings.Trim(s.Commit, "0123456789abcdef") != "" {
		p.Fail("commit", "Incomplete commit id", "%q is not a full commit id. To print the ids of branches and tags, "+
			"run `git ls-remote %s`.", g.Commit, addr)
		return
	}
	if noLogin(p, addr); p.Failed() {
		return
	}
	for i, sub := range s.Only {
		s.Only[i], s.Submodules = path.Clean(sub), true
	}
	remote := remoteRE.MatchString(addr)
	if s.URL, s.Out = "repository", treeDir; remote {
		s.URL = addr
	}
	a := step.Tool(p, "", "check out "+s.Commit[:10]+" of "+addr, git.Tool, s)
	a.Env, a.Timeout = map[string]string{"PATH": DefaultPath}, fetchTimeout
	if remote {
		online(a, "git") // ssh needs the user's keys
	} else {
		a.In(p.Path("url", strings.TrimPrefix(addr, "file://")).As(s.URL))
	}
	p.Tree("dir", a.OutTree(treeDir))
}
