package backend

import (
	"strings"
	"testing"
)

// TestLogLine: a line of a log is its message and then its fields, never JSON.
func TestLogLine(t *testing.T) {
	for given, want := range map[string]string{
		"plain text {with braces}": "plain text {with braces}",
		`{"level":40,"time":"2026-11-23T02:07:44.359Z","msg":"shell metacharacter rejected","sessionId":"s-1","workspace":"docs","command":"ls; rm"}`: `shell metacharacter rejected sessionId=s-1 workspace=docs command="ls; rm" level=40 time=2026-11-23T02:07:44.359Z`,
		`{"sessionId":"s-1","err":{"type":"WorkspaceFailedError","message":"tmpdirRoot is gone","stack":"at x"},"msg":"operation failed"}`:            `operation failed sessionId=s-1 err.type=WorkspaceFailedError err="tmpdirRoot is gone" err.stack="at x"`,
		`2026-11-23T02:07:44Z stdout F {"msg":"boom","n":3}`:                               `2026-11-23T02:07:44Z stdout F boom n=3`,
		`{"log":"{\"msg\":\"boom\",\"workspace\":\"box\"}\n","stream":"stderr"}`:           `boom workspace=box stream=stderr`,
		`answered 500: {"error":"TypeError: x is undefined"}`:                              `answered 500: TypeError: x is undefined`,
		`answered 500: {"error":{"code":7,"message":"no such sandbox"}}`:                   `answered 500: no such sandbox error.code=7`,
		`{"msg":"boom","err":"WorkspaceFailedError: capability snapshot is declared but …`: `boom err="WorkspaceFailedError: capability snapshot is declared but …"`,
		`{"msg":"boom","password":"hunter22hunter22"}`:                                     `boom password=‹masked›`,
		`{"msg":"\u001b[31mred"}`:                                                          `␛[31mred`,
		`{"sessionId":"s-1"}`:                                                              `sessionId=s-1`,
		`{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}`:                                            `a.b.c.d.e="{'f':1}"`,
		`{"msg":"x","list":[1,2]} and more`:                                                `x list=[1,2] and more`,
	} {
		if got := Clean(given, MaxTextRunes).LogLine(400).String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", given, got, want)
		}
	}
	if got := Clean(`{"msg":"boom","err":"it is gone","level":50,"time":"2026-11-23T02:07:44.359Z"}`, 200).LogLine(40).String(); got != `boom err="it is gone" level=50` {
		t.Errorf("%q: fields at the end go whole", got)
	}
	if got := Clean(`{"msg":"`+strings.Repeat("long ", 100)+`"}`, MaxTextRunes).LogLine(20).String(); len([]rune(got)) != 20 {
		t.Errorf("%q is not cut at 20 characters", got)
	}
}
