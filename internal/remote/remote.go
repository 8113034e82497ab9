// Package remote shares results and work with other machines through a server of the Remote Execution API v2.
//
// Dial returns a Client. Blobs and Results combine the client with the stores of this machine. They ask the server for
// missing content. With Options.Upload, they also send new results in the background. A server failure counts as a
// cache miss. After the first permanent failure, the Client reports the failure once and makes no more calls.
//
// Executor runs actions on the server. It sends a complete translation of each action, so that the server cannot ignore
// any part.
//
// The package knows bytes, digests, actions and results. It does not know where the Options come from, or what an
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

// Options contain the address of a server and the settings of the connection.
type Options struct {
	Name      string // in messages
	Address   string // see CheckAddress
	Instance  string // instance name in the API; "" is the server's default
	Namespace string // separates results on the server

	UploadWait time.Duration // time limit of Results.Finish for pending uploads

	IdleTimeout time.Duration // idle timeout of a call
	Retries     int           // retries of a call after a transient failure

	Execute  bool              // the server runs actions; see Executor
	Fallback Fallback          // for an action that cannot run on the server
	Platform map[string]string // platform properties for the server, in its own names

	TLS         TLS
	Credentials []string          // command of a credential helper that prints headers; nil: none
	Headers     map[string]string // sent with each call

	Say func(text string) // receives sentences for the user, from any goroutine
}

// Fallback says what hexmage does with an action that the server cannot run.
type Fallback string

// Values of Fallback.
const (
	FallbackLocal Fallback = "local" // run it on this machine
	FallbackFail  Fallback = "fail"  // report an error
)

// TLS contains the paths of PEM files. Each path may be "".
type TLS struct {
	CA               string // CAs to trust in addition to the system's
	Certificate, Key string // identify the client
}

// Defaults of Options.
const (
	DefaultIdleTimeout = 10 * time.Second
	DefaultRetries     = 2
	DefaultUploadWait  = 30 * time.Second
)

// Schemes of server addresses.
const (
	plain  = "grpc"  // without encryption
	secure = "grpcs" // over TLS
)

// maxMessage is the largest accepted message from a server, in bytes. It is above the API's limit and protects memory.
const maxMessage = 16 << 20

// CheckAddress rejects addresses other than grpc://HOST:PORT and grpcs://HOST[:PORT].
func CheckAddress(address string) error {
	_, _, err := parseAddress(address)
	return err
}

// parseAddress returns the target to connect to, and whether the address asks for TLS.
func parseAddress(address string) (target string, overTLS bool, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != plain && u.Scheme != secure || u.Hostname() == "" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", false,
			errors.New("invalid server address; write grpcs://HOST:PORT, or grpc://HOST:PORT without TLS. " +
				"To select a cache of the server, set `instance`")
	}
	if u.User != nil {
		return "", false, errors.New("the address contains a user or password; use `credential_helper` or `headers`")
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == secure:
		port = "443"
	case port == "":
		return "", false, errors.New("missing port in the address; write grpc://HOST:PORT")
	}
	return net.JoinHostPort(u.Hostname(), port), u.Scheme == secure, nil
}

// AllowsCredentials reports whether hexmage may send credentials to the address. Credentials need TLS or a server on
// this machine.
func AllowsCredentials(address string) bool {
	target, overTLS, err := parseAddress(address)
	if err != nil || overTLS {
		return err == nil
	}
	host, _, _ := net.SplitHostPort(target)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Client calls one server. The methods are safe for concurrent use.
type Client struct {
	o       Options
	conn    *grpc.ClientConn
	headers *headers // nil: none

	asked sync.Mutex    // held while asking for capabilities, so that one call is made
	known *capabilities // nil: not asked yet

	mu   sync.Mutex
	gone error // why the client is disabled; nil: it is enabled
	over bool  // closed
	lost int   // blobs that the server reported as present and did not send

	absent map[digest.Digest]bool // blobs that the server did not send
}

// ErrDisabled means that the client is disabled. Calls return it wrapped.
var ErrDisabled = errors.New("the remote is disabled")

// errSlow is the cause of a context that ended by the idle timeout.
var errSlow = errors.New("no data within the idle timeout")

// Dial checks the options and returns a client. The client connects at the first call.
func Dial(o Options) (*Client, error) {
	target, overTLS, err := parseAddress(o.Address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Address, err)
	}
	if (len(o.Credentials) > 0 || len(o.Headers) > 0) && !AllowsCredentials(o.Address) {
		return nil, fmt.Errorf("%s: credentials need TLS; use a grpcs:// address", o.Address)
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
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: o.IdleTimeout}),
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
			return nil, fmt.Errorf("tls: ca: %s contains no certificate", t.CA)
		}
	}
	if t.Certificate != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: load the certificate and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Close closes the connection and cancels running calls.
func (c *Client) Close() error {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	return c.conn.Close()
}

// Out returns the reason why the client is disabled, or nil.
func (c *Client) Out() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over && c.gone == nil {
		return ErrDisabled
	}
	return c.gone
}

// leave disables the client. The first caller's reason is reported.
func (c *Client) leave(why error) error {
	c.mu.Lock()
	first := c.gone == nil && !c.over
	if first {
		c.gone = fmt.Errorf("%w: %w", ErrDisabled, why)
	}
	gone := c.gone
	c.mu.Unlock()
	if first {
		c.o.Say(fmt.Sprintf("remote %s is disabled, and the build continues without the remote: %v", c.o.Name, why))
		go c.conn.Close() // ends pending calls
	}
	if gone == nil {
		return ErrDisabled
	}
	return gone
}

// maxLost is the number of blobs reported as present and not sent, after which the client is disabled.
const maxLost = 3

// LostError means that the server reported a blob as present, but failed to send it. The error wraps store.ErrNotFound.
type LostError struct {
	Name   string // of the remote
	Digest digest.Digest
	Err    error
}

// Error returns the message.
func (e *LostError) Error() string {
	return fmt.Sprintf("remote %s reported blob %s but did not send the blob: %v", e.Name, e.Digest, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// call runs f with a time limit, and retries it after transient failures. It returns errors of f that are an answer
// (see answer) or have one of the codes, the context's error, or ErrDisabled.
func (c *Client) call(ctx context.Context, what string, f func(ctx context.Context) error,
	answers ...codes.Code) error {
	return c.calls(ctx, what, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, c.o.IdleTimeout, errSlow)
		defer cancel()
		return slow(ctx, f(ctx))
	}, answers...)
}

// calls is like call for an f that limits its own time.
func (c *Client) calls(ctx context.Context, what string, f func(ctx context.Context) error,
	answers ...codes.Code) error {
	pause := 100 * time.Millisecond
	for try := 0; ; try++ {
		if err := c.Out(); err != nil {
			return err
		}
		err := f(ctx)
		if at, ok := ctx.Deadline(); ok && status.Code(err) == codes.DeadlineExceeded && time.Until(at) < time.Second {
			<-ctx.Done() // the server applied the caller's deadline, and reported it first
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case answer(err), slices.Contains(answers, status.Code(err)):
			return err
		case try >= c.o.Retries || !c.passing(err):
			return c.leave(fmt.Errorf("%s: %w", what, reason(err, c.o)))
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)): // jitter, so that clients do not retry at the same time
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause *= 2
	}
}

// slow returns errSlow if it ended the call, else err.
func slow(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errSlow {
		return errSlow
	}
	return err
}

// patient returns a context for a long call. The context ends if the call makes no progress within the idle timeout.
// The caller reports received bytes to progress, and calls stop at the end.
func (c *Client) patient(ctx context.Context) (_ context.Context, progress func(n int), stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(c.o.IdleTimeout, func() { cancel(errSlow) })
	const least = 64 << 10 // bytes that count as progress: a server that sends a few bytes now and then is too slow
	came := 0
	return ctx, func(n int) {
		if came += n; came >= least {
			came = 0
			t.Reset(c.o.IdleTimeout)
		}
	}, func() { t.Stop(); cancel(nil) }
}

// denied is the answer to an upload by a client that may only read.
const denied = codes.PermissionDenied

// answer reports whether the error answers the request. Other errors mean a failed server or connection.
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

// passing reports whether a retry may help. It returns false after an idle timeout, so that callers wait only once.
func (c *Client) passing(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Aborted:
		return true
	case codes.Unauthenticated: // the helper's headers may have expired
		return c.headers != nil && c.headers.drop()
	}
	return false
}

// maxText is the largest part of a server's message that is shown, in bytes.
const maxText = 300

// reason explains the error and names the next step.
func reason(err error, o Options) error {
	if errors.Is(err, errSlow) || status.Code(err) == codes.DeadlineExceeded {
		return fmt.Errorf("no data from %s for %v; check that the server runs and that this machine can reach it",
			o.Address, o.IdleTimeout)
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
		return fmt.Errorf("%s denies access (%s); check `credential_helper`, `headers` or `tls` of remote %s",
			o.Address, text, o.Name)
	case codes.Unavailable:
		if strings.HasPrefix(o.Address, secure+":") { // a server may reject a certificate by closing the connection
			return fmt.Errorf("%s is unreachable (%s); check that the server runs, and check `tls` of remote %s",
				o.Address,
				text, o.Name)
		}
		return fmt.Errorf("%s is unreachable (%s); check that the server runs", o.Address, text)
	}
	return fmt.Errorf("server %s reports %s: %s", o.Address, s.Code(), text)
}

// Capabilities are the features that a server claims to support.
type Capabilities struct {
	Functions []digest.Function // supported by hexmage too, best first
	Batch     int64             // bytes of blobs in one message
	Largest   int64             // maximum size of a blob in bytes; 0: unlimited
	Updates   bool              // accepts results
	Executes  bool              // runs actions
}

// capabilities add the compression of a server.
type capabilities struct {
	Capabilities
	packsLarge bool // zstd for large blobs, in both directions
	packsSmall bool // zstd for small blobs in batches
	packer     *packer
}

// Sizes of batches, in bytes.
const (
	maxBatch = 4<<20 - 64<<10 // below the default message limit of gRPC servers
	perBlob  = 160            // of a message for a blob, besides its content
)

// maxContact is the time limit for the first answer of a server. An unreachable address may give no error.
const maxContact = 5 * time.Second

// able returns the server's capabilities. It asks the server once.
func (c *Client) able(ctx context.Context) (*capabilities, error) {
	c.asked.Lock()
	defer c.asked.Unlock()
	if c.known != nil {
		return c.known, nil
	}
	var got *repb.ServerCapabilities
	o := c.o
	o.IdleTimeout = min(o.IdleTimeout, maxContact)
	soon, cancel := context.WithTimeoutCause(ctx, o.IdleTimeout, errSlow)
	defer cancel()
	err := c.call(soon, "get the capabilities of the server", func(ctx context.Context) (err error) {
		got, err = repb.NewCapabilitiesClient(c.conn).GetCapabilities(ctx,
			&repb.GetCapabilitiesRequest{InstanceName: c.o.Instance})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && c.Out() == nil:
		return nil, c.leave(fmt.Errorf("get the capabilities of the server: %w", reason(err, o)))
	case err != nil:
		return nil, err
	}
	cache := got.GetCacheCapabilities()
	if cache == nil {
		return nil, c.leave(fmt.Errorf("server %s does not offer a cache", c.o.Address))
	}
	is := &capabilities{Capabilities: Capabilities{Batch: maxBatch, Largest: cache.GetMaxCasBlobSizeBytes(),
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
	c.known = is
	return is, nil
}

// Capabilities returns the server's capabilities. Only the first call asks the server.
func (c *Client) Capabilities(ctx context.Context) (Capabilities, error) {
	is, err := c.able(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	return is.Capabilities, nil
}
