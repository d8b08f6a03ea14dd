package logs

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"sandglass/backend"
)

// sdkClass is the class of lines that name a kind of error.
func sdkClass(name string) Class {
	switch name {
	case "ExecTimeoutError", "ExecTransportError":
		return ClassSDKExec
	case "WorkspaceReadNotFoundError":
		return ClassSDKMissing
	}
	return ClassSDKFiles
}

// snapshotFrames are the functions of the SDK in which a save and a restore fail.
var snapshotFrames = [...]struct {
	name  string
	class Class
}{
	{"persist_workspace", ClassPersistFailed}, {"teardown_for_snapshot", ClassPersistFailed}, {"restore_after_snapshot", ClassPersistFailed},
	{"hydrate_workspace", ClassHydrateFailed},
}

// noBytesName is the pattern of a restore for which the caller gave no bytes.
const noBytesName = "hydrate-no-bytes"

// ptyFrames are those of its terminals.
var ptyFrames = [...]string{"pty_exec_start", "pty_write_stdin"}

// frameOf matches a function of a traceback, or its name beside the word for its failure.
func frameOf(name string) *regexp.Regexp {
	at := regexp.QuoteMeta(name)
	return regexp.MustCompile(`\bin _?` + at + `\b|\b` + at + `\b.*(?:\b[Ff]ailed\b|\b[Tt]imed out\b|[A-Za-z]Error\b)|[A-Za-z]Error\b.*\b` + at + `\b`)
}

// lastError is the last error that a text names.
var lastError = regexp.MustCompile(`(?s).*(?:^|[\s:.])([A-Z][A-Za-z]*Error\b(?:: [^\n"]+)?)`)

// sdkLines are the errors of the SDK that are not told by a text of their own.
func sdkLines() (out []pattern) {
	for _, f := range snapshotFrames {
		meaning := "the content of a workspace could not be saved"
		if f.class == ClassHydrateFailed {
			meaning = "the saved content of a workspace could not be brought back"
		}
		name := strings.ReplaceAll(f.name, "_", "-") + "-frame"
		out = append(out, pattern{name: name, contains: f.name, class: f.class, tier: tierFrame, meaning: meaning, inError: true, event: true, quoted: true, also: frameOf(f.name),
			cause: lastError, frame: true,
			hits: []string{
				`2026-01-01T12:00:00Z ERROR agents stop failed: Traceback: File "sandbox.py", line 700, in ` + f.name,
				`{"level":"error","msg":"stop failed","session_id":"s1","err":{"type":"WorkspaceArchiveReadError","message":"x","stack":"WorkspaceArchiveReadError: x\n  File \"sandbox.py\", line 700, in ` + f.name + `"}}`,
			},
			misses: []string{`{"level":"info","message":"` + f.name + ` done"}`, `{"level":30,"msg":"tool done","output":"Error in ` + f.name + `"}`,
				`{"level":"error","message":"the test test_` + f.name + `_again is skipped"}`},
		})
	}
	out = append(out, pattern{name: noBytesName, contains: "bl-hydrate-", class: ClassHydrateFailed, tier: tierError, meaning: "what was given to a restore is no bytes", inError: true, event: true, quoted: true,
		also:   regexp.MustCompile(`WorkspaceWriteTypeError|workspace_write_type_error`),
		hits:   []string{`2026-01-01T12:00:00Z ERROR agents WorkspaceWriteTypeError: write() expects a binary file-like object {'path': '/tmp/bl-hydrate-0a1b.tar', 'actual_type': 'str'}`},
		misses: []string{`2026-01-01T12:00:00Z ERROR agents WorkspaceWriteTypeError: {'path': '/workspace/a', 'actual_type': 'str'}`}})
	out = append(out, pattern{name: "sandbox-delete-failed", contains: string(deleteFailed), class: ClassSDKDelete, tier: tierEvidence, inError: true,
		meaning: "the agent's SDK could not delete a sandbox at the end of its session, and does not try again",
		hits:    []string{`{"level":"warning","msg":"Sandbox delete failed during shutdown","session_id":"s1"}`, `2026-01-01T12:00:00Z WARNING agents sandbox delete failed during shutdown: HTTP 503`},
		misses:  []string{`{"level":30,"msg":"tool done","output":"Sandbox delete failed during shutdown"}`}})
	out = append(out, sdkNotices()...)
	out = append(out, missingPackages()...)
	for _, e := range backend.SDKErrorKinds() {
		for _, text := range []string{e.Name, e.Code} {
			at := regexp.MustCompile(`\b` + text + `\b`)
			out = append(out, pattern{name: strings.ReplaceAll(e.Code, "_", "-"), contains: text, class: sdkClass(e.Name), tier: tierEvidence, meaning: string(e.Means), inError: true, quoted: true, also: at,
				hits:   []string{`{"level":"error","msg":"tool failed","session_id":"s1","err":{"code":"` + text + `"}}`, `2026-01-01T12:00:00Z ERROR agents.sandbox tool failed: ` + text},
				misses: []string{`{"level":30,"msg":"tool done","output":"` + text + `"}`, `{"level":"error","msg":"the option ` + text + `_s is new"}`}})
		}
	}
	return out
}

// What an error of the SDK says beside its class and its message: in its context, or in the mapping that is its first argument.
var (
	sdkOutput   = regexp.MustCompile(`\boutput["']?\s*[:=]\s*["']?([^"'}]+)`)
	sdkTimeout  = regexp.MustCompile(`(?:\btimeout_s["']?\s*[:=]\s*["']?|\btimed out after )(\d+(?:\.\d+)?)`)
	sdkType     = regexp.MustCompile(`\bactual_type["']?\s*[:=]\s*["']?(\w{1,60})`)
	sdkStatus   = regexp.MustCompile(`\b(?:http_status|status(?:_code)?)["']?\s*[:=]\s*["']?(\d{3})\b|\bHTTP (\d{3})\b`)
	sdkCode     = regexp.MustCompile(`\bprovider_error_code["']?\s*[:=]\s*["']?([A-Z_]{3,60})`)
	sdkAnswer   = regexp.MustCompile(`process timed out(?: after \d{1,9} seconds)?|(?i:no space left on device|permission denied)|\bWORKLOAD_(?:UNAVAILABLE|NOT_FOUND)\b|folder '[^'\n]{1,300}' does not exist`)
	deniedWords = regexp.MustCompile(`(?i)\bpermission denied\b`)
	sdkReason   = regexp.MustCompile(`\breason["']?\s*[:=]\s*["']?([a-z_]{3,60})`)
	sdkFolder   = regexp.MustCompile(`\bfolder '(/[^\s']{1,300})' does not exist`)
	sdkPath     = regexp.MustCompile(`(?:\bfile not found: |\bfor path: |\bpath["']?\s*[:=]\s*["']?)(/[^\s"'},:]{1,300})`)
)

// sdkSample is what is kept of an error of the SDK: its class, and the parts that tell more, in a fixed order. What the command was is
// not among them: it may hold secrets.
func sdkSample(p *pattern, r record, line []byte) []byte {
	text := bytes.Join([][]byte{r.message, r.errText, r.part.answer}, []byte("\n"))
	if len(text) == 2 {
		text = line
	}
	if bytes.Contains(r.lost, []byte(backend.AccessCheck)) { // no command of an agent
		text = append(append(bytes.Clone(text), '\n'), backend.AccessCheck...)
	}
	out, status := "", 0
	for _, e := range backend.SDKErrorKinds() {
		if p.contains == e.Name || p.contains == e.Code {
			out = e.Name
		}
	}
	for _, part := range []struct {
		as string
		is *regexp.Regexp
	}{{"path ", sdkPath}, {"timeout ", sdkTimeout}, {"type ", sdkType}, {"reason ", sdkReason}, {"folder ", sdkFolder}, {"HTTP ", sdkStatus}, {"", sdkCode}} {
		if m := part.is.FindSubmatch(text); m != nil {
			said := string(bytes.Join(m[1:], nil))
			out += ", " + part.as + said
			if part.is == sdkStatus {
				status, _ = strconv.Atoi(said)
			}
			if part.is == sdkTimeout {
				out += " s"
			}
		}
	}
	return []byte(out + backend.AnswerIn(string(text), status).Sign())
}

// frameSample is what is kept of a line of a traceback: the error that it names, else its meaning, and the phase of a snapshot.
func frameSample(p *pattern, r record) []byte {
	out := []byte(p.meaning)
	for _, text := range [][]byte{r.errText, r.message} {
		if c := p.causeIn(text, nil); len(c) > 0 {
			out = c
		}
	}
	for _, text := range [][]byte{r.errText, r.message} {
		if m := sdkOutput.FindSubmatch(text); m != nil {
			out = m[1]
		}
	}
	out = bytes.Clone(out[:min(len(out), maxSample)])
	if !waitEnded.Match(out) { // what began the chain is the cause
		for _, text := range [][]byte{r.errText, r.message, r.part.late} {
			if late := waitEnded.Find(text); late != nil {
				out = append(append(out, ", after "...), late...)
				break
			}
		}
	}
	phase := cmp.Or(backend.PhaseIn(string(r.message)), backend.PhaseIn(string(r.errText)), backend.PhaseUntold)
	if bytes.Contains(out, []byte("WorkspaceWriteTypeError")) && p.class == ClassHydrateFailed {
		phase = backend.PhaseNoBytes
	}
	return append(out, phase.Sign()...)
}
