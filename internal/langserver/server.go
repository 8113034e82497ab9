// Package langserver speaks to editors, by the Language Server Protocol: what is wrong with pipelines and modules as
// they are typed, completion, what things are, where they are declared, renaming, formatting.
//
// One enters it with Serve. It knows the language: blocks, references, addresses. What kinds of step, targets and
// toolchains there are, how a pipeline is checked, and which workspace a file is in, it is told (Host); it runs
// nothing, and writes no file.
package langserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/step"
)

// Host is what the server is told of this machine.
type Host struct {
	Version string

	// Workspace returns the workspace that a file, an absolute path, is in; nil where it is in none. What is open
	// stands in it in place of files. It is called for each request: who makes a workspace keeps it.
	Workspace func(file string, open Texts) *Workspace

	// Kinds are those of files that are in no workspace.
	Kinds func() []step.Description

	Log io.Writer // mistakes of the server's own
}

// Workspace is what the server is told of a workspace. Functions may be called from many goroutines at once.
type Workspace struct {
	Root      string // absolute path
	Pipelines func() []string
	Load      func(ctx context.Context, pipeline string) (*config.Pipeline, hcl.Diagnostics)
	// Check says all that is wrong with a pipeline. Files are named as config.Pipeline.Files are.
	Check func(ctx context.Context, pipeline string) (hcl.Diagnostics, error)
	Find  config.Finder
	Words func() Words
}

// Words are what may be named in a workspace, beside what its files declare.
type Words struct {
	Kinds            []step.Description
	Targets          []Word
	TargetAttributes []Word
	Settable         []string // of TargetAttributes, what a target block may set
	Toolchains       []Toolchain
	Modules          []Word // by name
	Functions        []Word
}

// Word is a name, and what there is to say of it.
type Word struct {
	Name   string
	Detail string // a few words; may be ""
	Doc    string // Markdown; may be ""
}

// Toolchain is a toolchain that pipelines may name.
type Toolchain struct {
	Word
	Versions   []Word
	Attributes []Word
}

// errNotShut is the end of a server whose editor went away without a word.
var errNotShut = errors.New("the editor ended without shutting the server down")

// Serve answers an editor until it says that it ends, or its side of the connection ends.
func Serve(ctx context.Context, rwc io.ReadWriteCloser, h Host) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{host: h, open: newDocuments(), end: cancel}
	s.checker = newChecker(s)
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(rwc, jsonrpc2.VSCodeObjectCodec{}), s, jsonrpc2.SetLogger(logger{h.Log}))
	s.checker.publish = func(p diagnosticsParams) {
		_ = conn.Notify(ctx, "textDocument/publishDiagnostics", p) // an editor that is gone needs none
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.checker.run(ctx)
	}()
	select {
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
	}
	cancel()
	<-conn.DisconnectNotify()
	<-done
	if !s.shut.Load() {
		return errNotShut
	}
	return nil
}

// logger is where jsonrpc2 says what is wrong with what an editor sends.
type logger struct{ w io.Writer }

func (l logger) Printf(format string, args ...any) { fmt.Fprintf(l.w, format, args...) }

// server answers requests, one after the other.
type server struct {
	host    Host
	open    *documents
	checker *checker
	end     func()
	shut    atomic.Bool // the editor asked for the end
}

// Handle implements jsonrpc2.Handler.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	result, err := s.answer(ctx, r)
	if r.Notif {
		if err != nil {
			fmt.Fprintf(s.host.Log, "%s: %v\n", r.Method, err)
		}
		return
	}
	if err == nil {
		err = conn.Reply(ctx, r.ID, result)
		if err == nil || errors.Is(err, jsonrpc2.ErrClosed) {
			return
		}
	}
	var known *jsonrpc2.Error
	if !errors.As(err, &known) {
		known = &jsonrpc2.Error{Code: codeRequestFailed, Message: err.Error()}
	}
	_ = conn.ReplyWithError(ctx, r.ID, known) // likewise
}

// codeRequestFailed is the protocol's for a request that is right and cannot be met.
const codeRequestFailed = -32803

// answer answers a request. What is wrong with the server is an error of that request.
func (s *server) answer(ctx context.Context, r *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.host.Log, "%s: %v\n%s\n", r.Method, p, debug.Stack())
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("a mistake in hexmage, please report it: %v", p)}
		}
	}()
	params := []byte("{}")
	if r.Params != nil {
		params = *r.Params
	}
	switch r.Method {
	case "initialize":
		return s.initialize(), nil
	case "initialized", "textDocument/willSave", "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles":
		return nil, nil
	case "shutdown":
		s.shut.Store(true)
		return nil, nil
	case "exit":
		s.end()
		return nil, nil
	case "textDocument/didOpen":
		return nil, with(params, func(p didOpenParams) {
			s.checker.changed(s.open.put(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text).file)
		})
	case "textDocument/didChange":
		return nil, with(params, func(p didChangeParams) {
			if n := len(p.ContentChanges); n > 0 {
				s.checker.changed(s.open.put(p.TextDocument.URI, p.TextDocument.Version, p.ContentChanges[n-1].Text).file)
			}
		})
	case "textDocument/didSave":
		return nil, with(params, func(p documentParams) { s.checker.changed(fileOf(p.TextDocument.URI)) })
	case "textDocument/didClose":
		return nil, with(params, func(p documentParams) {
			file := fileOf(p.TextDocument.URI)
			s.open.remove(file)
			s.checker.closed(file)
		})
	case "textDocument/formatting":
		return at(s, params, func(v *view, _ documentParams) (any, error) { return v.format() })
	case "textDocument/completion":
		return at(s, params, func(v *view, p positionParams) (any, error) { return v.complete(p.Position), nil })
	case "textDocument/hover":
		return at(s, params, func(v *view, p positionParams) (any, error) { return v.hover(p.Position), nil })
	case "textDocument/definition":
		return at(s, params, func(v *view, p positionParams) (any, error) { return v.definition(p.Position), nil })
	case "textDocument/prepareRename":
		return at(s, params, func(v *view, p positionParams) (any, error) { return v.prepareRename(p.Position) })
	case "textDocument/rename":
		return at(s, params, func(v *view, p renameParams) (any, error) { return v.rename(ctx, p.Position, p.NewName) })
	}
	if r.Notif && strings.HasPrefix(r.Method, "$/") {
		return nil, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: r.Method + " is not known here"}
}

func (s *server) initialize() initializeResult {
	return initializeResult{
		Capabilities: capabilities{
			TextDocumentSync:           syncOptions{OpenClose: true, Change: 1, Save: true},
			CompletionProvider:         completionOptions{TriggerCharacters: []string{".", `"`}},
			HoverProvider:              true,
			DefinitionProvider:         true,
			RenameProvider:             renameOptions{PrepareProvider: true},
			DocumentFormattingProvider: true,
		},
		ServerInfo: serverInfo{Name: "hexmage", Version: s.host.Version},
	}
}

func with[P any](params []byte, do func(P)) error {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	do(p)
	return nil
}

// at answers a request about a document that is open.
func at[P any](s *server, params []byte, do func(*view, P) (any, error)) (any, error) {
	var p P
	var of documentParams
	if err := errors.Join(json.Unmarshal(params, &p), json.Unmarshal(params, &of)); err != nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	doc := s.open.get(fileOf(of.TextDocument.URI))
	if doc == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: of.TextDocument.URI + " is not open"}
	}
	return do(newView(s.host, s.open, doc), p)
}

// format returns the edits that give the document the canonical layout. One that does not parse stays.
func (v *view) format() ([]textEdit, error) {
	out, diags := config.Format(v.doc.text, v.doc.file)
	if diags.HasErrors() {
		return nil, fmt.Errorf("there is a mistake in it: %w", diags)
	}
	if bytes.Equal(out, v.doc.text) && !v.doc.crlf {
		return []textEdit{}, nil
	}
	was, now := bytes.SplitAfter(v.doc.text, []byte("\n")), bytes.SplitAfter(out, []byte("\n"))
	if v.doc.crlf || len(was) != len(now) {
		return []textEdit{{Range: v.lines.span(0, len(v.doc.text)), NewText: string(out)}}, nil
	}
	edits := []textEdit{}
	for i := range was {
		if !bytes.Equal(was[i], now[i]) {
			edits = append(edits, textEdit{Range: span{position{i, 0}, v.lines.position(v.lines.starts[i] + len(was[i]))}, NewText: string(now[i])})
		}
	}
	return edits, nil
}
