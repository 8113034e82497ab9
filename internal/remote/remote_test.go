package remote_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func functions() []digest.Function { return []digest.Function{digest.BLAKE3, digest.SHA256} }

func client(t *testing.T) *remote.Client {
	c, _ := dial(t, serve(t, functions()...).address, nil)
	return c
}

func TestBlobsAreAStore(t *testing.T) {
	storetest.Blobs(t, "*remote.Blobs", func(t *testing.T) store.Blobs {
		d, err := disk.NewBlobs(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return remote.NewBlobs(d, client(t), nil)
	})
	storetest.Reads(t, "*remote.Blobs", func(t *testing.T, fn digest.Function, content [][]byte) store.Blobs {
		s, here := serve(t, functions()...), memory.NewBlobs()
		for i, b := range content {
			if i%2 == 0 {
				s.has(b, fn)
			} else if err := here.Put(t.Context(), fn.Bytes(b), bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
		}
		c, _ := dial(t, s.address, nil)
		return remote.NewBlobs(here, c, nil)
	})
	storetest.BlobsDamage(t, func(t *testing.T) (store.Blobs, func(digest.Digest, []byte)) {
		here := memory.NewBlobs()
		return remote.NewBlobs(here, client(t), nil), here.Damage
	})
	c := client(t)
	storetest.Decorator(t, "*remote.Blobs", func(next store.Blobs) store.Blobs { return remote.NewBlobs(next, c, nil) })
}

func TestResultsAreAStore(t *testing.T) {
	storetest.Results(t, "*remote.Results", func(t *testing.T) store.Results {
		return remote.NewResults(memory.NewResults(), remote.NewBlobs(memory.NewBlobs(), client(t), nil), false)
	})
}

// machine is a cache with a remote.
type machine struct {
	here    *memory.Blobs
	own     *memory.Results
	blobs   *remote.Blobs
	results *remote.Results
	client  *remote.Client
	said    *said
}

func newMachine(t *testing.T, s *server, upload bool, change func(*remote.Options)) *machine {
	t.Helper()
	m := &machine{here: memory.NewBlobs(), own: memory.NewResults()}
	m.client, m.said = dial(t, s.address, change)
	m.blobs = remote.NewBlobs(m.here, m.client, nil)
	m.results = remote.NewResults(m.own, m.blobs, upload)
	return m
}

// made is an action that wrote two files, one of them large, and a folder.
type made struct {
	key      digest.Digest
	result   *action.Result
	messages map[digest.Digest][]byte
	content  map[digest.Digest][]byte
}

func (m *machine) makes(t *testing.T, fn digest.Function, n int) made {
	t.Helper()
	ctx := t.Context()
	x := made{content: map[digest.Digest][]byte{}}
	put := func(b []byte) digest.Digest {
		d := fn.Bytes(b)
		x.content[d] = b
		if err := m.here.Put(ctx, d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	small, large := put(fmt.Appendf(nil, "small %d", n)), put(storetest.Bytes(int64(n), 3<<20))
	dir := &merkle.Dir{Files: map[string]*merkle.File{"f": {Digest: small}},
		Dirs: map[string]*merkle.Dir{"sub": {Files: map[string]*merkle.File{"empty": {Digest: put(nil)}}}}}
	root, err := dir.Put(ctx, m.here, fn)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := dir.EncodeTree(fn)
	if err != nil {
		t.Fatal(err)
	}
	x.result = &action.Result{
		Files: []action.OutputFile{{Path: "out/small", Digest: small, Executable: true},
			{Path: "out/large", Digest: large}},
		Dirs:   []action.OutputDir{{Path: "out/dir", Tree: put(tree), Root: root}},
		Stdout: []byte("said\n"), Worker: "local", Duration: time.Second,
	}
	a := &action.Action{Command: action.Command{Args: []string{"make", fmt.Sprint(n)},
		Outputs: []string{"out/dir", "out/large", "out/small"}}, InputRoot: root}
	e := a.Encode(fn)
	x.key, x.messages = e.Key, map[digest.Digest][]byte{e.Key: e.Action, fn.Bytes(e.Command): e.Command}
	return x
}

// sends makes something and has it on the server.
func (m *machine) sends(t *testing.T, fn digest.Function, n int) made {
	t.Helper()
	x := m.makes(t, fn, n)
	if err := m.results.Put(t.Context(), x.key, x.result, x.messages); err != nil {
		t.Fatal(err)
	}
	return x
}

// wants reports when the machine has not the result with all that it names.
func (m *machine) wants(t *testing.T, x made) {
	t.Helper()
	storetest.Want(t, m.results, x.key, x.result)
	var all []digest.Digest
	for d, b := range x.content {
		all = append(all, d)
		if got, err := store.ReadBlob(t.Context(), m.blobs, d, 1<<30); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s: %d bytes, %v", d, len(got), err)
		}
	}
	if missing, err := m.here.Missing(t.Context(), all); err != nil || len(missing) > 0 {
		t.Errorf("what was read is not kept here: %v, %v", missing, err)
	}
}

// TestTwoMachines: what one made the other has, in each digest function, and nothing is fetched before somebody reads
// it.
func TestTwoMachines(t *testing.T) {
	for _, fn := range functions() {
		t.Run(fn.String(), func(t *testing.T) {
			s := serve(t, fn)
			one := newMachine(t, s, true, nil)
			x := one.sends(t, fn, 1)
			one.results.Finish(t.Context())
			two := newMachine(t, s, false, nil)
			storetest.Want(t, two.results, x.key, x.result)
			if n := s.count("Read"); n > 0 {
				t.Errorf("%d large blobs were fetched", n)
			}
			if _, err := two.own.Get(t.Context(), x.key); err == nil {
				t.Error("the result is remembered here, and not all of it is here")
			}
			two.wants(t, x)
			asked := s.count("GetActionResult")
			for range 3 {
				if _, err := two.results.Get(t.Context(), fn.Bytes([]byte("nobody made it"))); !errors.Is(err,
					store.ErrNotFound) {
					t.Error(err)
				}
			}
			if n := s.count("GetActionResult") - asked; n != 1 {
				t.Errorf("what it does not have it was asked for %d times", n)
			}
			one.said.want(t)
			two.said.want(t)
			if n := s.count("GetCapabilities"); n != 2 {
				t.Errorf("two clients asked %d times what it can do", n)
			}
		})
	}
}

// TestNamespaces: a client with another namespace, or none, does not find results of a namespace. The cache of the
// machine that made a result has it by its own key.
func TestNamespaces(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	namespace := func(name string) *machine {
		return newMachine(t, s, true, func(o *remote.Options) { o.Namespace = name })
	}
	one := namespace("glibc 2.36")
	x := one.sends(t, fn, 1)
	one.results.Finish(t.Context())
	namespace("glibc 2.36").wants(t, x)
	for _, name := range []string{"", "glibc 2.41"} {
		if _, err := namespace(name).results.Get(t.Context(), x.key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("namespace %q: %v", name, err)
		}
	}
	storetest.Want(t, one.own, x.key, x.result)
	one.said.want(t)
}

// TestOnlyOwn: what stays on this machine is neither sent nor asked for, and so is what another run may make otherwise.
func TestOnlyOwn(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	m := newMachine(t, s, true, nil)
	x := m.makes(t, fn, 1)
	x.result.Varies = "this machine could not give it all"
	if err := m.results.Put(t.Context(), x.key, x.result, x.messages); err != nil {
		t.Fatal(err)
	}
	cached := execute.Cached(execute.Route(nil), execute.CacheOptions{Results: m.results, Blobs: m.blobs, Fn: fn})
	a := &action.Action{InputRoot: fn.Bytes(nil), LocalOnly: true}
	if _, ok, err := execute.Lookup(t.Context(), cached, &execute.Request{Action: a}); ok || err != nil {
		t.Error(ok, err)
	}
	m.results.Finish(t.Context())
	for _, method := range []string{"GetActionResult", "UpdateActionResult"} {
		if n := s.count(method); n > 0 {
			t.Errorf("%s was called %d times", method, n)
		}
	}
	a.LocalOnly = false
	if _, ok, err := execute.Lookup(t.Context(), cached, &execute.Request{Action: a}); ok || err != nil ||
		s.count("GetActionResult") != 1 {
		t.Error("without that it is asked", ok, err)
	}
}

// TestSendsNoMore: a server does not get what it wishes, but what a result names; and no result with a file that it
// does not take.
func TestSendsNoMore(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	m := newMachine(t, s, true, nil)
	secret := []byte("of another project")
	d := fn.Bytes(secret)
	if err := m.here.Put(t.Context(), d, bytes.NewReader(secret)); err != nil {
		t.Fatal(err)
	}
	s.wishes, s.largest = []digest.Digest{d}, 3<<20
	x, y := m.sends(t, fn, 1), m.makes(t, fn, 2)
	large := storetest.Bytes(7, 3<<20+1)
	y.result.Files[0].Digest = fn.Bytes(large)
	if err := errors.Join(m.here.Put(t.Context(), fn.Bytes(large), bytes.NewReader(large)),
		m.results.Put(t.Context(), y.key, y.result, y.messages)); err != nil {
		t.Fatal(err)
	}
	m.results.Finish(t.Context())
	if _, sent := s.blobs[d]; sent {
		t.Error("it has what it wished")
	}
	if s.results[x.key] == nil || s.results[y.key] != nil {
		t.Errorf("of the two results it has %d", len(s.results))
	}
	m.said.want(t)
}

// TestLies: other bytes with OK, large or small, are as nothing; the third time nothing is asked any more, which it
// says once.
func TestLies(t *testing.T) {
	for _, how := range []string{"lies", "forgets"} {
		t.Run(how, func(t *testing.T) {
			fn := digest.BLAKE3
			s := serve(t, fn)
			one := newMachine(t, s, true, nil)
			var all []made
			for n := range 4 {
				all = append(all, one.sends(t, fn, n))
			}
			one.results.Finish(t.Context())
			two := newMachine(t, s, false, nil)
			for _, x := range all {
				storetest.Want(t, two.results, x.key, x.result)
			}
			s.change(func() { s.lies, s.forgets = how == "lies", how == "forgets" })
			for i, x := range all[:3] {
				two.said.want(t)
				d := x.result.Files[i%2].Digest
				_, err := store.ReadBlob(t.Context(), two.blobs, d, 1<<30)
				if lost := (*remote.LostError)(nil); !errors.As(err, &lost) || !errors.Is(err, store.ErrNotFound) ||
					errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%v", err)
				}
				if m, err := two.blobs.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
					t.Errorf("it still counts as there: %v", err)
				}
				// as a build does that begins again
				again := remote.NewResults(two.own, remote.NewBlobs(two.here, two.client, nil), false)
				if _, err := again.Get(t.Context(), x.key); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("its result: %v", err)
				}
			}
			two.said.want(t, "remote team is disabled", "3 blobs as present but failed")
			if _, err := two.results.Get(t.Context(), all[3].key); !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		})
	}
}

// TestAbilities: what a server says of itself, and why it says nothing.
func TestAbilities(t *testing.T) {
	s := serve(t, digest.BLAKE3, digest.SHA256)
	s.largest = 5 << 20
	dial := func() *remote.Client {
		c, err := remote.Dial(remote.Options{Name: "team", Address: s.address, IdleTimeout: time.Second,
			Say: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	is, err := dial().Capabilities(t.Context())
	if err != nil || len(is.Functions) != 2 || is.Largest != 5<<20 || is.Batch <= 0 || !is.Updates {
		t.Errorf("%+v, %v", is, err)
	}
	s.change(func() { s.denies["GetCapabilities"] = status.Error(codes.Unauthenticated, "expired") })
	if is, err = dial().Capabilities(t.Context()); err == nil || !strings.Contains(err.Error(), "expired") ||
		!strings.Contains(err.Error(), "credential_helper") || is.Batch != 0 {
		t.Errorf("%+v, %v", is, err)
	}
}

// TestOutOfReach: a server that is not there, that says nothing, or that says no, costs a limited time once, and one
// sentence.
func TestOutOfReach(t *testing.T) {
	hole, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	no := serve(t, digest.BLAKE3)
	no.denies["GetCapabilities"] = status.Error(codes.Unauthenticated, "who are you?")
	for _, c := range []struct{ name, address, says string }{
		{"black hole", hole.Addr().String(), "no data from"},
		{"dead port", dead.Addr().String(), "refused"},
		{"no", strings.TrimPrefix(no.address, "grpc://"), "who are you?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, &server{address: "grpc://" + c.address},
				true, func(o *remote.Options) { o.IdleTimeout = time.Second })
			began := time.Now()
			for n := range 3 {
				m.wants(t, m.sends(t, digest.BLAKE3, n))
				if _, err := m.results.Get(t.Context(), digest.BLAKE3.Bytes([]byte(fmt.Sprint(n)))); !errors.Is(err,
					store.ErrNotFound) {
					t.Error(err)
				}
			}
			m.results.Finish(t.Context())
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			m.said.want(t, "remote team is disabled", c.says)
		})
	}
}

// TestStreams: a stream that breaks goes on where it was, and a slow one may take its time; one that stops, or
// trickles, is given up. Packed or not.
func TestStreams(t *testing.T) {
	fn := digest.BLAKE3
	b := storetest.Bytes(1, 3<<20)
	for _, c := range []struct {
		name   string
		change func(*server)
		says   []string
	}{
		{"breaks", func(s *server) { s.breaks = 2 }, nil},
		{"is slow", func(s *server) { s.pause = 50 * time.Millisecond }, nil},
		{"stalls", func(s *server) { s.stalls = true }, []string{"no data from"}},
		{"trickles", func(s *server) { s.trickle = true }, []string{"no data from"}},
	} {
		for _, packs := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " ", packs), func(t *testing.T) {
				s := serve(t, fn)
				d := s.has(b, fn)
				s.packs = packs
				s.change(func() { c.change(s) })
				breaks := s.breaks
				m := newMachine(t, s, false, func(o *remote.Options) { o.IdleTimeout = time.Second })
				began := time.Now()
				err := m.reads(t, d, b)
				if c.says == nil {
					if err != nil {
						t.Error(err)
					}
					if len(s.offsets) != breaks+1 || !slices.IsSorted(s.offsets) || s.offsets[0] != 0 ||
						breaks > 0 && (s.offsets[1] < 100_000 || s.offsets[2] < 200_000) {
						t.Errorf("it was read from %d", s.offsets)
					}
				} else if !errors.Is(err, store.ErrNotFound) || time.Since(began) > 3*time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				m.said.want(t, c.says...)
			})
		}
	}
}

// TestFull: a server that takes nothing more, or lets this client only read, costs one sentence, and is still asked.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		code    codes.Code
		text    string
		methods []string
	}{
		{codes.ResourceExhausted, "no space left", []string{"BatchUpdateBlobs", "Write", "UpdateActionResult"}},
		{codes.PermissionDenied, "denies access", []string{"BatchUpdateBlobs", "Write", "UpdateActionResult"}},
		{codes.PermissionDenied, "denies access", []string{"UpdateActionResult"}},
	} {
		t.Run(c.code.String(), func(t *testing.T) {
			fn := digest.BLAKE3
			s := serve(t, fn)
			one := newMachine(t, s, true, nil)
			x := one.sends(t, fn, 1)
			one.results.Finish(t.Context())
			s.change(func() {
				for _, method := range c.methods {
					s.denies[method] = status.Error(c.code, c.text)
				}
			})
			two := newMachine(t, s, true, nil)
			for n := range 5 {
				two.sends(t, fn, 10+n)
			}
			two.results.Finish(t.Context())
			two.said.want(t, "hexmage stops uploads to remote team", c.text)
			two.wants(t, x)
		})
	}
}

// TestWait: the end of a command waits for what is still to be sent, as long as it is said to, and no longer than
// somebody wants it.
func TestWait(t *testing.T) {
	fn := digest.BLAKE3
	for _, c := range []struct {
		name          string
		slow, limit   time.Duration
		stop          bool
		least, atMost time.Duration
		says          []string
	}{
		{"it is fast", 0, time.Second, false, 0, 500 * time.Millisecond, nil},
		{"it is slow", 400 * time.Millisecond, 10 * time.Second, false, 300 * time.Millisecond,
			950 * time.Millisecond, nil},
		{"it is too slow", 3 * time.Second, 300 * time.Millisecond, false, 300 * time.Millisecond, time.Second,
			[]string{"the upload to remote team exceeded", "300ms", "results not sent: 1"}},
		{"it is stopped", 3 * time.Second, 10 * time.Second, true, 0, 500 * time.Millisecond, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, fn)
			s.slow = c.slow
			m := newMachine(t, s, true, func(o *remote.Options) {
				o.UploadWait, o.IdleTimeout = c.limit, 5*time.Second
			})
			x := m.sends(t, fn, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.stop {
				cancel()
			}
			began := time.Now()
			m.results.Finish(ctx)
			if took := time.Since(began); took < c.least || took > c.atMost {
				t.Errorf("it took %v", took)
			}
			m.said.want(t, c.says...)
			s.mu.Lock()
			_, sent := s.results[x.key]
			s.mu.Unlock()
			if sent != (c.says == nil && !c.stop) {
				t.Errorf("the result is there: %v", sent)
			}
		})
	}
}

// pair makes a certificate that signs itself, of who is at 127.0.0.1, and its key, and returns the files of both.
func pair(t *testing.T) (certificate, key string, made tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "team"},
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, b := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: keyBytes}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// TestTLS: whom the server has to be known by, and who the client has to be.
func TestTLS(t *testing.T) {
	fn := digest.BLAKE3
	ca, _, own := pair(t)
	other, _, _ := pair(t)
	clientCert, clientKey, mine := pair(t)
	clients := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(mine.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	clients.AddCert(parsed)
	s := serveWith(t, []digest.Function{fn},
		grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{own},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients})))
	s.address = strings.Replace(s.address, "grpc", "grpcs", 1)
	x := made{}
	for _, c := range []struct {
		name string
		tls  remote.TLS
		says []string
	}{
		{"right", remote.TLS{CA: ca, Certificate: clientCert, Key: clientKey}, nil},
		{"nobody knows the server", remote.TLS{Certificate: clientCert, Key: clientKey},
			[]string{"remote team is disabled", "certificate"}},
		{"another server", remote.TLS{CA: other, Certificate: clientCert, Key: clientKey},
			[]string{"remote team is disabled", "certificate"}},
		{"nobody knows the client", remote.TLS{CA: ca},
			[]string{"remote team is disabled", "is unreachable", "`tls` of remote team"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			with := func(o *remote.Options) { o.TLS = c.tls }
			if c.says == nil {
				m := newMachine(t, s, true, with)
				x = m.sends(t, fn, 1)
				m.results.Finish(t.Context())
				newMachine(t, s, false, with).wants(t, x)
				m.said.want(t)
				return
			}
			m := newMachine(t, s, false, with)
			if _, err := m.results.Get(t.Context(), x.key); !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
			m.said.want(t, c.says...)
		})
	}
	for says, tls := range map[string]remote.TLS{"contains no certificate": {CA: clientKey},
		"no such file": {CA: "/none"}, "certificate and key": {Certificate: ca, Key: clientKey}} {
		if _, err := remote.Dial(remote.Options{Address: s.address, TLS: tls}); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestSpellings: results as other servers write them are understood, or are none.
func TestSpellings(t *testing.T) {
	fn := digest.SHA256
	s := serve(t, fn)
	m := newMachine(t, s, false, nil)
	pb := func(d digest.Digest) *repb.Digest { return &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()} }
	dir := &merkle.Dir{Files: map[string]*merkle.File{"f": {Digest: s.has([]byte("f"), fn)}}}
	root, _ := dir.Encode(fn)
	message, err := dir.EncodeTree(fn)
	if err != nil {
		t.Fatal(err)
	}
	tree, notTree := pb(s.has(message, fn)), pb(s.has([]byte("\x0a\xff no tree"), fn))
	file := func(path string) *repb.ActionResult {
		return &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: path, Digest: pb(s.has([]byte("f"), fn))}}}
	}
	for i, c := range []struct {
		name string
		r    *repb.ActionResult
		is   *action.Result // nil: there is none
	}{
		{"printed into blobs", &repb.ActionResult{StdoutDigest: pb(s.has([]byte("out"), fn)),
			StderrDigest: pb(s.has([]byte("err"), fn))}, &action.Result{Stdout: []byte("out"), Stderr: []byte("err")}},
		{"content in place", &repb.ActionResult{
			OutputFiles: []*repb.OutputFile{{Path: "a", Digest: pb(fn.Bytes([]byte("here"))),
				Contents: []byte("here")}}},
			&action.Result{Files: []action.OutputFile{{Path: "a", Digest: fn.Bytes([]byte("here"))}}}},
		{"other content in place",
			&repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: "a", Digest: pb(fn.Bytes([]byte("HERE"))),
				Contents: []byte("here")}}}, nil},
		{"a folder without root",
			&repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{Path: "d", TreeDigest: tree}}},
			&action.Result{Dirs: []action.OutputDir{{Path: "d", Tree: fn.Bytes(message), Root: root}}}},
		{"a folder without anything", &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{Path: "d"}}}, nil},
		{"no tree", &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{Path: "d", TreeDigest: notTree,
			RootDirectoryDigest: pb(root)}}}, nil},
		{"another tree", &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{Path: "d", TreeDigest: tree,
			RootDirectoryDigest: pb(s.has([]byte("x"), fn))}}}, nil},
		{"a link", &repb.ActionResult{OutputSymlinks: []*repb.OutputSymlink{{Path: "l", Target: "/etc/passwd"}}}, nil},
		{"a blob that is gone", &repb.ActionResult{
			OutputFiles: []*repb.OutputFile{{Path: "a", Digest: pb(fn.Bytes([]byte("gone")))}}}, nil},
		{"no digest", &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: "a"}}}, nil},
		{"a path outside", file("../a"), nil},
		{"an absolute path", file("/a"), nil},
		{"no path", file(""), nil},
		{"a proper path", file("a/b"),
			&action.Result{Files: []action.OutputFile{{Path: "a/b", Digest: fn.Bytes([]byte("f"))}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := fn.Bytes([]byte(fmt.Sprint(i)))
			s.change(func() { s.results[key] = c.r })
			if c.is != nil {
				storetest.Want(t, m.results, key, c.is)
			} else if r, err := m.results.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	m.said.want(t)
}

// TestOtherOutputs: a result without an output that the command names is none, whoever says it.
func TestOtherOutputs(t *testing.T) {
	fn := digest.SHA256
	s := serve(t, fn)
	m := newMachine(t, s, false, nil)
	cached := execute.Cached(execute.Route(nil), execute.CacheOptions{Results: m.results, Blobs: m.blobs, Fn: fn})
	a := &action.Action{Command: action.Command{Args: []string{"make"}, Outputs: []string{"a"}},
		InputRoot: fn.Bytes(nil)}
	d := s.has([]byte("a"), fn)
	for path, want := range map[string]bool{"a": true, "b": false} {
		s.change(func() {
			s.results[a.Key(fn)] = &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: path,
				Digest: &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()}}}}
		})
		if _, ok, err := execute.Lookup(t.Context(), cached, &execute.Request{Action: a}); ok != want || err != nil {
			t.Errorf("%s: %v, %v", path, ok, err)
		}
	}
}

// TestInterrupted: a build that is stopped waits for nothing.
func TestInterrupted(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	d := s.has(storetest.Bytes(1, 3<<20), fn)
	s.stalls = true
	m := newMachine(t, s, false, func(o *remote.Options) { o.IdleTimeout = time.Minute })
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(stopped) })
	if _, err := m.blobs.Open(ctx, d); !errors.Is(err, stopped) {
		t.Errorf("Open: %v, want the context's cause", err)
	}
	m.said.want(t)
}

const token = "s3cr3t-t0ken"

// TestCredentials: what a helper and the options say is sent with each call, and stands in no sentence; a helper
// whose token is refused is asked once more.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	helper, count := filepath.Join(dir, "helper"), filepath.Join(dir, "count")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $2\" = \"for-team get\" ] || exit 1\ngrep -q "+
		"'\"uri\":\"http://127.0.0.1' || exit 1\necho x >> %s\necho '{\"headers\": {\"Authorization\": [\"Bearer "+
		"%s\"]}}'\n", count, token)
	if err := os.WriteFile(helper, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	fn := digest.BLAKE3
	s := serve(t, fn)
	with := func(o *remote.Options) {
		o.Credentials, o.Headers = []string{helper, "for-team"}, map[string]string{"X-Team": token}
	}
	m := newMachine(t, s, true, with)
	x := m.sends(t, fn, 1)
	m.results.Finish(t.Context())
	newMachine(t, s, false, with).wants(t, x)
	for _, md := range s.headers {
		if got := fmt.Sprint(md.Get("authorization"), md.Get("x-team")); got != "[Bearer "+token+"] ["+token+"]" {
			t.Errorf("headers %s", got)
		}
	}
	for d, b := range s.blobs {
		if bytes.Contains(b, []byte(token)) {
			t.Errorf("%s has the token", d)
		}
	}
	before, err := os.ReadFile(count)
	if err != nil || len(before) != 4 {
		t.Fatalf("two clients asked the helper: %q, %v", before, err)
	}
	s.change(func() { s.denies["GetCapabilities"] = status.Error(codes.Unauthenticated, "expired") })
	m = newMachine(t, s, false, with)
	if _, err := m.results.Get(t.Context(), x.key); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	m.said.want(t, "expired", "credential_helper")
	if after, err := os.ReadFile(count); err != nil || len(after) != 10 { // once, and once for each retry
		t.Errorf("the helper was asked again: %q, %v", after, err)
	}
	if err := os.WriteFile(helper, []byte("#!/bin/sh\necho "+token+" >&2\necho "+token+"\nexit 3\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	broken := newMachine(t, s, false, with)
	if _, err := broken.results.Get(t.Context(), x.key); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	broken.said.want(t, "exit status 3", "run the helper yourself")
	for _, heard := range []*said{m.said, broken.said} {
		if strings.Contains(fmt.Sprint(heard.text), token) {
			t.Errorf("the token is in %q", heard.text)
		}
	}
	for _, address := range []string{"grpc://cache.example:9092", "grpc://10.0.0.1:9092"} {
		if _, err := remote.Dial(remote.Options{Address: address,
			Headers: map[string]string{"a": token}}); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v; credentials in the clear", address, err)
		}
	}
}

// TestAddresses: what names a server, and nothing else.
func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"grpc://cache:9092": true, "grpcs://cache": true, "grpcs://cache:1": true, "grpcs://[::1]:9092": true,
		"grpcs://cache/": true,
		"grpc://cache":   false, "http://cache:1": false, "cache:9092": false, "": false, "grpcs://u:p@cache": false,
		"grpcs://cache/main": false, "grpcs://": false, "grpcs://cache?x": false,
	} {
		if err := remote.CheckAddress(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		} else if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("%v shows what may be a password", err)
		}
	}
}

// TestHostFiles: a file of this machine is not looked for elsewhere, and a result may name it.
func TestHostFiles(t *testing.T) {
	fn := digest.BLAKE3
	s := serve(t, fn)
	c, _ := dial(t, s.address, nil)
	var files *store.HostFiles
	far := remote.NewBlobs(memory.NewBlobs(), c, func(d digest.Digest) bool { return files.Knows(d) })
	files = store.WithHostFiles(far)
	b := storetest.Bytes(1, 1<<20)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	files.Add(fn.Bytes(b), path)
	r, err := files.Open(t.Context(), fn.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, b) || len(s.calls) > 0 {
		t.Errorf("%d bytes, %v, calls %v", len(got), err, s.calls)
	}
	results, key, d := remote.NewResults(memory.NewResults(), far, false), fn.Bytes([]byte("key")), fn.Bytes(b)
	s.change(func() {
		s.results[key] = &repb.ActionResult{OutputFiles: []*repb.OutputFile{{Path: "a",
			Digest: &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()}}}}
	})
	storetest.Want(t, results, key, &action.Result{Files: []action.OutputFile{{Path: "a", Digest: d}}})
}
