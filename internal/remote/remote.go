// Package remote shares results and work with other machines through a server of the Remote Execution API v2.
//
// One enters it with Dial, and puts Blobs and Results over the stores of this machine: what they do not have they ask
// the server for, and what was made here they send there beside the build, if Options.Upload says so. Whatever goes
// wrong with the server is a miss. After the first failure that does not pass the Client is out: it asks for nothing
// any more, and has said so once.
//
// Executor has the server run actions, translated so that nothing of ours is left for it to ignore.
//
// The package knows bytes, digests, actions and results. It does not know where its Options come from, nor what an
// action is for.
package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hexmage/hexmage/internal/digest"
)

// Options say which server it is, and how it is spoken to.
type Options struct {
	Name     string // what messages call it
	Address  string // see CheckAddress
	Instance string // the server's word for one of its caches; "" where it has one
	Silo     string // results are shared with who says the same

	UploadWait time.Duration // how long Results.Finish waits for what is still to be sent

	Timeout time.Duration // how long nothing may come of a call
	Retries int           // how often a call is tried again after a failure that may pass

	Execute  bool              // actions run there, too; see Executor
	Fallback Fallback          // what becomes of an action that should run there, and cannot
	Platform map[string]string // what is asked of the machine there, in the server's words

	TLS         TLS
	Credentials []string          // a program that says what stands in headers, with its arguments; nil: none
	Headers     map[string]string // sent with each call

	Say func(text string) // is told a sentence that the user should know, from any goroutine
}

// Fallback says what becomes of an action that should run there, and cannot.
type Fallback string

// The fallbacks.
const (
	FallbackLocal Fallback = "local" // it runs here
	FallbackFail  Fallback = "fail"  // it is an error
)

// TLS names files in PEM. All may be "".
type TLS struct {
	CA               string // whom to believe that it is the server, beside whom the machine believes
	Certificate, Key string // what says who the client is
}

// What Options have where nobody says otherwise.
const (
	DefaultTimeout    = 10 * time.Second
	DefaultRetries    = 2
	DefaultUploadWait = 30 * time.Second
)

// The schemes of addresses.
const (
	plain  = "grpc"  // in the clear
	secure = "grpcs" // over TLS
)

// maxMessage is the size in bytes of the largest message that is taken from a server: more than one may send by the
// API, and less than what would hurt.
const maxMessage = 16 << 20

// CheckAddress refuses what is no grpc://HOST:PORT or grpcs://HOST[:PORT].
func CheckAddress(address string) error {
	_, _, err := parseAddress(address)
	return err
}

// parseAddress returns what an address says: where to connect, and whether over TLS.
func parseAddress(address string) (target string, overTLS bool, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != plain && u.Scheme != secure || u.Hostname() == "" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", false, errors.New("it is no address of a server: write grpcs://HOST:PORT, or grpc://HOST:PORT in " +
			"the clear; what the server calls one of its caches is `instance`")
	}
	if u.User != nil {
		return "", false, errors.New("an address has no user and password: use `credential_helper` or `headers`")
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == secure:
		port = "443"
	case port == "":
		return "", false, errors.New("it has no port: write grpc://HOST:PORT")
	}
	return net.JoinHostPort(u.Hostname(), port), u.Scheme == secure, nil
}

// Guarded tells whether credentials may be sent to the address: over TLS, or to this machine.
func Guarded(address string) bool {
	target, overTLS, err := parseAddress(address)
	if err != nil || overTLS {
		return err == nil
	}
	host, _, _ := net.SplitHostPort(target)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Client speaks to one server. All its methods may be called from many goroutines at once.
type Client struct {
	o       Options
	conn    *grpc.ClientConn
	headers *headers // nil: none

	asked sync.Mutex // has who asks for capabilities

	mu    sync.Mutex
	known *capabilities // nil: not asked yet
	gone  error         // why it is out; nil: it is not
	over  bool          // it is closed
	lost  int           // blobs that the server said it had, and had not

	absent map[digest.Digest]bool // blobs that it does not give
}

// ErrOut is what calls end with, wrapped, when the client is out.
var ErrOut = errors.New("the remote is not asked any more")

// errSlow is why a call was given up.
var errSlow = errors.New("nothing came of it")

// Dial returns a client, which connects when it is first asked for something. The error is about the options.
func Dial(o Options) (*Client, error) {
	target, overTLS, err := parseAddress(o.Address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Address, err)
	}
	if (len(o.Credentials) > 0 || len(o.Headers) > 0) && !Guarded(o.Address) {
		return nil, fmt.Errorf("%s: credentials would go in the clear: write grpcs://", o.Address)
	}
	transport := insecure.NewCredentials()
	if overTLS {
		config, err := o.TLS.config()
		if err != nil {
			return nil, err
		}
		transport = credentials.NewTLS(config)
	}
	again := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}
	dial := []grpc.DialOption{
		grpc.WithTransportCredentials(transport), grpc.WithUserAgent("hexmage"), grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: o.Timeout}),
	}
	c := &Client{o: o, absent: map[digest.Digest]bool{}}
	if len(o.Credentials) > 0 || len(o.Headers) > 0 {
		c.headers = &headers{o: o}
		dial = append(dial, grpc.WithPerRPCCredentials(c.headers))
	}
	if c.conn, err = grpc.NewClient("dns:///"+target, dial...); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Address, err)
	}
	return c, nil
}

func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: ca: %w", err)
		}
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			c.RootCAs = x509.NewCertPool()
		}
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: ca: there is no certificate in %s", t.CA)
		}
	}
	if t.Certificate != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: certificate and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Close gives up the connection. What was going on ends.
func (c *Client) Close() error {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	return c.conn.Close()
}

// Out is why the client asks for nothing any more, or nil.
func (c *Client) Out() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over && c.gone == nil {
		return ErrOut
	}
	return c.gone
}

// leave has the client ask for nothing any more. It says why, to who is first.
func (c *Client) leave(why error) error {
	c.mu.Lock()
	first := c.gone == nil && !c.over
	if first {
		c.gone = fmt.Errorf("%w: %w", ErrOut, why)
	}
	gone := c.gone
	c.mu.Unlock()
	if first {
		c.o.Say(fmt.Sprintf("remote %s is out, and this goes on without it: %v", c.o.Name, why))
		go c.conn.Close() // which ends the calls that wait
	}
	if gone == nil {
		return ErrOut
	}
	return gone
}

// maxLost is how many blobs a server may say it has, and then not have.
const maxLost = 3

// LostError says that the server had something, as it said, and does not give it. It is a store.ErrNotFound.
type LostError struct {
	Name   string // of the remote
	Digest digest.Digest
	Err    error
}

// Error returns the message.
func (e *LostError) Error() string {
	return fmt.Sprintf("remote %s said that it has %s, and does not give it: %v", e.Name, e.Digest, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// call has f make a call, with a time limit of its own, and again where that may help. Errors are those of f that say
// something about what was asked for (see answer), the context's, and ErrOut.
func (c *Client) call(ctx context.Context, what string, f func(ctx context.Context) error) error {
	return c.calls(ctx, what, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, errSlow)
		defer cancel()
		return slow(ctx, f(ctx))
	})
}

// calls is call of what limits its time itself.
func (c *Client) calls(ctx context.Context, what string, f func(ctx context.Context) error) error {
	pause := 100 * time.Millisecond
	for try := 0; ; try++ {
		if err := c.Out(); err != nil {
			return err
		}
		err := f(ctx)
		if at, ok := ctx.Deadline(); ok && status.Code(err) == codes.DeadlineExceeded && time.Until(at) < time.Second {
			<-ctx.Done() // the server counted the caller's time, too, and was first
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case answer(err):
			return err
		case try >= c.o.Retries || !c.passing(err):
			return c.leave(fmt.Errorf("%s: %w", what, reason(err, c.o)))
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)): // so that not all come back at once
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause *= 2
	}
}

// slow is the error of a call, or errSlow where that is why it ended.
func slow(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errSlow {
		return errSlow
	}
	return err
}

// patient returns a context for a call that may take long: it ends when for the timeout there was no progress.
// progress is to be called with what came, in bytes, and stop at the end.
func (c *Client) patient(ctx context.Context) (_ context.Context, progress func(n int), stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(c.o.Timeout, func() { cancel(errSlow) })
	const least = 64 << 10 // bytes that are progress: a server that lets a few trickle is no use
	came := 0
	return ctx, func(n int) {
		if came += n; came >= least {
			came = 0
			t.Reset(c.o.Timeout)
		}
	}, func() { t.Stop(); cancel(nil) }
}

// answer tells whether the error says something about what was asked for, and nothing about the server.
func answer(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return !errors.Is(err, errSlow)
	}
	switch s.Code() {
	case codes.NotFound, codes.FailedPrecondition, codes.OutOfRange, codes.DataLoss, codes.InvalidArgument,
		codes.Internal, codes.Unknown, codes.ResourceExhausted, codes.Unimplemented:
		return true
	}
	return false
}

// passing tells whether trying again may help. Who waited for the timeout does not wait again.
func (c *Client) passing(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Aborted:
		return true
	case codes.Unauthenticated: // what the helper said may be over
		return c.headers != nil && c.headers.drop()
	}
	return false
}

// maxText is how much of a server's own words is shown, in bytes.
const maxText = 300

// reason says in words what the error means, and what to do.
func reason(err error, o Options) error {
	if errors.Is(err, errSlow) || status.Code(err) == codes.DeadlineExceeded {
		return fmt.Errorf("nothing came from %s for %v: look whether it runs, and whether this machine reaches it",
			o.Address, o.Timeout)
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	text := strings.ToValidUTF8(s.Message(), "?")
	if _, cause, ok := strings.Cut(text, "transport: "); ok {
		text = strings.TrimRight(cause, `"`)
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	switch s.Code() {
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("%s does not let you (%s): look after `credential_helper`, `headers` or `tls` of remote %s",
			o.Address, text, o.Name)
	case codes.Unavailable:
		if strings.HasPrefix(o.Address, secure+":") { // a server that does not want who comes just hangs up
			return fmt.Errorf("%s is not reached (%s): look whether it runs, and after `tls` of remote %s", o.Address,
				text, o.Name)
		}
		return fmt.Errorf("%s is not reached (%s)", o.Address, text)
	}
	return fmt.Errorf("%s says %s: %s", o.Address, s.Code(), text)
}

// Abilities are what a server says that it can do.
type Abilities struct {
	Functions []digest.Function // that we know, too, the best first
	Batch     int64             // bytes of blobs in one message
	Largest   int64             // size of a blob in bytes; 0: any
	Updates   bool              // results may be put
	Executes  bool              // actions run there
}

// capabilities are all of it that matters here.
type capabilities struct {
	Abilities
	packsLarge bool // large blobs may be packed by zstd, each way
	packsSmall bool // small ones
	packer     *packer
}

// The sizes of batches, in bytes.
const (
	maxBatch = 4<<20 - 64<<10 // what grpc's servers take, where nobody says otherwise
	perBlob  = 160            // that a blob takes in a message beside its content
)

// maxContact is how long at most the first answer of a server is waited for: where there is no way to it, nothing
// says so.
const maxContact = 5 * time.Second

// able asks once what the server can do.
func (c *Client) able(ctx context.Context) (*capabilities, error) {
	c.asked.Lock()
	defer c.asked.Unlock()
	c.mu.Lock()
	known := c.known
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var got *repb.ServerCapabilities
	o := c.o
	o.Timeout = min(o.Timeout, maxContact)
	soon, cancel := context.WithTimeoutCause(ctx, o.Timeout, errSlow)
	defer cancel()
	err := c.call(soon, "ask what it can do", func(ctx context.Context) (err error) {
		got, err = repb.NewCapabilitiesClient(c.conn).GetCapabilities(ctx,
			&repb.GetCapabilitiesRequest{InstanceName: c.o.Instance})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && c.Out() == nil:
		return nil, c.leave(fmt.Errorf("ask what it can do: %w", reason(err, o)))
	case err != nil:
		return nil, err
	}
	cache := got.GetCacheCapabilities()
	if cache == nil {
		return nil, c.leave(fmt.Errorf("%s is no cache", c.o.Address))
	}
	is := &capabilities{Abilities: Abilities{Batch: maxBatch, Largest: cache.GetMaxCasBlobSizeBytes(),
		Updates:  cache.GetActionCacheUpdateCapabilities().GetUpdateEnabled(),
		Executes: got.GetExecutionCapabilities().GetExecEnabled()}}
	if n := cache.GetMaxBatchTotalSizeBytes(); n > 0 {
		is.Batch = min(is.Batch, n)
	}
	for _, f := range cache.GetDigestFunctions() {
		switch f {
		case repb.DigestFunction_BLAKE3:
			is.Functions = append(is.Functions, digest.BLAKE3)
		case repb.DigestFunction_SHA256:
			is.Functions = append(is.Functions, digest.SHA256)
		}
	}
	is.packsLarge = slices.Contains(cache.GetSupportedCompressors(), repb.Compressor_ZSTD)
	is.packsSmall = slices.Contains(cache.GetSupportedBatchUpdateCompressors(), repb.Compressor_ZSTD)
	if is.packsLarge || is.packsSmall {
		if is.packer, err = newPacker(); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	c.known = is
	c.mu.Unlock()
	return is, nil
}

// Abilities asks the server, once.
func (c *Client) Abilities(ctx context.Context) (Abilities, error) {
	is, err := c.able(ctx)
	if err != nil {
		return Abilities{}, err
	}
	return is.Abilities, nil
}
