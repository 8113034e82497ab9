// Package langserver implements the Language Server Protocol for pipelines and modules: diagnostics, completion, hover,
// definitions and formatting.
//
// Serve is the entry point. The package knows the pipeline language: blocks, references and addresses. Host provides
// the rest: kinds of steps, targets, toolchains, the check of a pipeline, and the workspace for a file. The server runs
// nothing and writes no files.
package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/step"
)

// Host gives the server access to this machine.
type Host struct {
	Version string
	Log     io.Writer // log for internal errors

	// Workspace returns the workspace that contains a file (an absolute path), or nil. In this workspace, texts that
	// are open in the editor replace files. The server calls the function for each request.
	Workspace func(file string, open Texts) *Workspace
}

// Workspace is a folder with pipelines. Several goroutines may call its functions.
type Workspace struct {
	Root      string // absolute path
	Pipelines func() []string
	Load      func(ctx context.Context, pipeline string) (*config.Pipeline, hcl.Diagnostics)
	// Check returns all errors and warnings of a pipeline, with file names as in config.Pipeline.Files.
	Check func(ctx context.Context, pipeline string) (hcl.Diagnostics, error)
	Find  config.Finder
	// Words returns the kinds of steps, and maps a text to the words that may follow it. The texts are "target{",
	// `target "`, `toolchain "`, "toolchain llvm version =", "module source =", "toolchain.llvm." and "target.*."; the
	// text "" has the names of functions.
	Words func() ([]step.Description, map[string][]Word)
}

// Word is a name and its documentation.
type Word struct {
	Name   string
	Detail string // short text; may be ""
	Doc    string // Markdown; may be ""
	block  bool
	at     []hcl.Range // declarations, with files named as by config.Pipeline.Files, or absolute
}

// Serve answers requests until the editor stops the server or closes the connection.
func Serve(ctx context.Context, rwc io.ReadWriteCloser, h Host) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(h, cancel)
	stream := jsonrpc2.NewBufferedStream(rwc, jsonrpc2.VSCodeObjectCodec{})
	conn := jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(s.log))
	go func() {
		<-conn.DisconnectNotify()
		cancel()
	}()
	s.publish = func(p diagnosticsParams) {
		_ = conn.Notify(ctx, "textDocument/publishDiagnostics", p) // it fails if the editor is gone
	}
	s.checkChanges(ctx)
	<-conn.DisconnectNotify()
	if !s.shut.Load() {
		return errors.New("the editor disconnected without a shutdown request")
	}
	return nil
}

// server answers requests, one after the other, and checks open documents in the background.
type server struct {
	host Host
	log  *log.Logger
	open documents
	end  func()
	shut atomic.Bool // the editor asked for the end

	dirty sync.Map // files to check
	wake  chan struct{}

	// only checkChanges uses these
	publish func(diagnosticsParams)
	found   map[unit]map[string][]diagnostic // by file
}

func newServer(h Host, end func()) *server {
	found := map[unit]map[string][]diagnostic{}
	return &server{host: h, log: log.New(h.Log, "", 0), end: end, wake: make(chan struct{}, 1), found: found}
}

// Handle implements jsonrpc2.Handler.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	result, err := s.answer(r)
	var known *jsonrpc2.Error
	switch {
	case r.Notif && err != nil:
		s.log.Printf("%s: %v", r.Method, err)
	case r.Notif:
	case err == nil:
		_ = conn.Reply(ctx, r.ID, result) // it fails if the editor is gone
	case errors.As(err, &known):
		_ = conn.ReplyWithError(ctx, r.ID, known)
	default: // RequestFailed
		_ = conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: -32803, Message: err.Error()})
	}
}

// guard runs do, logs a panic, and returns it as an error.
func (s *server) guard(name string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Printf("%s: %v\n%s", name, p, debug.Stack())
			err = fmt.Errorf("internal error in hexmage: %v; please report this bug", p)
		}
	}()
	return do()
}

// answer answers a request.
func (s *server) answer(r *jsonrpc2.Request) (result any, err error) {
	var p documentParams
	if strings.HasPrefix(r.Method, "textDocument/") && r.Params != nil {
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
	}
	file := fileOf(p.TextDocument.URI)
	switch r.Method {
	case "initialize":
		return s.initialize(), nil
	case "shutdown":
		s.shut.Store(true)
	case "exit":
		s.end()
	case "textDocument/didOpen":
		s.open.put(p.TextDocument.URI, p.TextDocument.Text)
		s.changed(file)
	case "textDocument/didChange":
		if n := len(p.ContentChanges); n > 0 {
			s.open.put(p.TextDocument.URI, p.ContentChanges[n-1].Text)
			s.changed(file)
		}
	case "textDocument/didClose":
		s.open.byFile.Delete(file)
		s.changed(s.open.files()...)
	case "textDocument/didSave": // other files may have changed on disk
		s.changed(s.open.files()...)
	default:
		err = s.guard(r.Method, func() (err error) {
			result, err = s.request(r, p)
			return err
		})
	}
	return result, err
}

// request answers a request about a document.
func (s *server) request(r *jsonrpc2.Request, p documentParams) (any, error) {
	method := map[string]func(*view) (any, error){
		"textDocument/completion": func(v *view) (any, error) { return v.complete(p.Position), nil },
		"textDocument/hover":      func(v *view) (any, error) { return v.hover(p.Position), nil },
		"textDocument/definition": func(v *view) (any, error) { return v.definition(p.Position), nil },
		"textDocument/formatting": func(v *view) (any, error) { return v.format() },
	}[r.Method]
	if method == nil {
		if r.Notif { // initialized, $/cancelRequest and others
			return nil, nil
		}
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "unknown method " + r.Method}
	}
	doc := s.open.get(fileOf(p.TextDocument.URI))
	if doc == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: p.TextDocument.URI + " is not open"}
	}
	return method(newView(s, doc))
}

func (s *server) initialize() any {
	type object = map[string]any
	return object{
		"serverInfo": object{"name": "hexmage", "version": s.host.Version},
		"capabilities": object{
			"textDocumentSync":           object{"openClose": true, "change": 1, "save": true}, // whole texts
			"completionProvider":         object{"triggerCharacters": []string{".", `"`}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"documentFormattingProvider": true,
		},
	}
}
