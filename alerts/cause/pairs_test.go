package cause

import (
	"strings"
	"testing"
)

// identity is what decides whether two texts are one cause: the words, or where these are too few all of it.
func identity(text string) string {
	var r Reader
	r.Read(text)
	if r.Weak {
		return "weak: " + string(r.Loose)
	}
	return string(r.Words)
}

// longText goes on beyond what is compared.
var longText = strings.Repeat("the container runtime refused to mount the volume because the lease is held, and the scheduler gave up after the deadline, since no node has memory; ", 1) +
	"the registry answered with a checksum mismatch while the snapshot was restored from the bucket, so the workspace stays closed until an operator resets its quota, and the network policy denies the proxy"

// Texts of one cause: they differ in what a world puts into them, not in what went wrong.
var oneCause = [][]string{
	// Kubernetes and pods
	{"pod web-7d4b9c-xkzqp was evicted: The node was low on resource: memory", "pod web-5f6d8b7c9d-abcde was evicted: The node was low on resource: memory", "pod api-xkzqp was evicted: The node was low on resource: memory"},
	{"pod worker-qwert is not ready", "pod worker-yuiop is not ready", "pod nightly-crawler is not ready", "pod checkout-eu is not ready"},
	{"Back-off restarting failed container agent in pod agent-6c9f8d7b5-k2x9z", "Back-off restarting failed container agent in pod agent-6c9f8d7b5-q7w8r"},
	{"Readiness probe failed: HTTP probe failed with statuscode: 503", "Readiness probe failed: HTTP probe failed with statuscode: 500"},
	{"0/12 nodes are available: 12 Insufficient memory.", "0/3 nodes are available: 3 Insufficient memory."},
	// names
	{"session alice failed to open", "session bruno failed to open", "session wendy failed to open"},
	{"agent report-writer lost its sandbox", "agent invoice-bot lost its sandbox", "agent atlas lost its sandbox"},
	{"container brave_turing exited", "container happy_curie exited"},
	{"workspace «atlas» cannot be opened", "workspace “atlas” cannot be opened", "workspace 'atlas' cannot be opened", `workspace "atlas" cannot be opened`, "workspace `atlas` cannot be opened", "workspace atlas cannot be opened", "workspace ‘hermes’ cannot be opened", "workspace „hermes“ cannot be opened"},
	{"binding 'SANDBOX' is not defined", "binding 'FILES' is not defined", "binding FILES is not defined", "binding \"AGENTS_BOX\" is not defined"},
	{"env.SANDBOX is undefined", "env.FILES is undefined"},
	{"R2 bucket 'agents-eu' unreachable", "R2 bucket 'agents-us' unreachable", "R2 bucket archive-eu unreachable"},
	// classes in front, dots behind
	{"WorkspaceFailedError: sandbox is gone", "sandbox is gone", "sandbox is gone.", "Error: sandbox is gone", "Error: WorkspaceFailedError: sandbox is gone", "agents.errors.WorkspaceFailedError: sandbox is gone"},
	{"Uncaught disk is gone", "Error: disk is gone", "Uncaught Error: disk is gone", "Uncaught (in promise) TypeError: disk is gone", "UnhandledPromiseRejectionWarning: Error: disk is gone", "disk is gone"},
	{"TypeError: sync is not a function", "TypeError: abcd is not a function", "open is not a function", "TypeError: xqzw is not a function"},
	{"TypeError: fetch failed", "fetch failed", "TypeError [ERR_X]: fetch failed"[:0] + "TypeError: fetch failed."},
	{"asyncio.exceptions.TimeoutError: deadline exceeded", "TimeoutError: deadline exceeded", "deadline exceeded"},
	// key=value
	{"open failed session=3f2b8c1e request=be393ae5", "open failed session=0a91b77c request=95480469", "open failed"},
	{"level=error msg=\"dial tcp: connection refused\" pod=web-1 trace_id=4bf92f3577b34da6", "level=error msg=\"dial tcp: connection refused\" pod=web-22 trace_id=a3ce929d0e0e4736"},
	{"request id=QmFzZTY0SWQxMjM0 rejected", "request id=Zm9vYmFyYmF6cXV4 rejected"},
	{"read failed key=alpha attempt=3", "read failed key=beta attempt=17"},
	{"snapshot failed (tenant=acme, region=eu-west-1)", "snapshot failed (tenant=globex, region=us-east-2)"},
	// dates and times
	{"certificate expired at Sun, 22 Nov 2026 16:15:18 GMT", "certificate expired at Mon, 01 Mar 2027 04:00:01 GMT"},
	{"token expired: exp 2026-11-22T16:15:18Z", "token expired: exp 2027-01-01T00:00:00.123+02:00"},
	{"not before Tue, 03 Feb 2026 01:02:03 GMT: certificate is not valid yet", "not before Wed, 14 Oct 2026 21:02:03 GMT: certificate is not valid yet"},
	{"Nov 22 16:15:18 kernel: Out of memory: Killed process 4242 (node)", "Dec  1 01:02:03 kernel: Out of memory: Killed process 77 (node)"},
	{"timeout after 30s", "timeout after 1500ms", "timeout after 2.5m", "timeout after thirty seconds"[:0] + "timeout after 90s"},
	{"gave up after three attempts", "gave up after 3 attempts", "gave up after twenty-one attempts", "gave up after five attempts."},
	{"first attempt refused by anna", "second attempt refused by anna", "3rd attempt refused by anna", "4th attempt refused by bruno", "twenty-first attempt refused by anna"},
	{"timed out after 30s", "timed out after 90000ms", "timed out after 1.5 minutes", "timed out after 30 seconds", "timed out after thirty seconds"},
	{"lost one of two replicas", "lost 3 of 7 replicas"},
	// stack frames
	{"Error: socket hang up\n    at connResetException (node:internal/errors:720:14)\n    at Socket.socketOnEnd (node:_http_client:519:23)", "Error: socket hang up", "socket hang up\n    at TLSSocket.<anonymous> (node:_http_client:491:9)"},
	{"Error: socket hang up    at connResetException (node:internal/errors:720:14)    at Socket.socketOnEnd (node:_http_client:519:23)", "socket hang up"},
	{"Error: box is gone␊    at async Box.open (/app/src/box.js:10:5)␊    at /app/src/index.js:7:9", "box is gone"},
	{"panic: runtime error: index out of range [5] with length 3\n\ngoroutine 17 [running]:\nmain.main()\n\t/src/main.go:10 +0x1d", "panic: runtime error: index out of range [9] with length 2"},
	{"Traceback (most recent call last):\n  File \"/app/run.py\", line 12, in <module>\n    main()\nValueError: invalid literal for int() with base 10: 'x'", "ValueError: invalid literal for int() with base 10: 'abc'"},
	{"Traceback (most recent call last): File \"/app/run.py\", line 12, in <module> main() ConnectionRefusedError: [Errno 111] Connection refused", "ConnectionRefusedError: [Errno 111] Connection refused"},
	{"java.lang.IllegalStateException: pool is closed\n\tat com.acme.Pool.get(Pool.java:42)\n\tat com.acme.Main.main(Main.java:7)", "IllegalStateException: pool is closed"},
	{"System.TimeoutException: The operation has timed out.\n   at Acme.Box.Open() in /src/Box.cs:line 42", "The operation has timed out."},
	{"thread 'main' panicked: queue is full\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace", "thread 'tokio' panicked: queue is full"},
	{"agent wendy crashed", "agent writer crashed", "agent main crashed (attempt 3)", "agent crashed [trace Hc1Wclyi52XgY-YL]", "agent crashed (request 0a1b2c3d)"},
	{"\"qwlmx\": connection reset by peer", "atlas: connection reset by peer", "u2xiVU/wF23Ks+E=: connection reset by peer", "Tue, 31 Aug 2027 05:25:24 GMT: connection reset by peer"},
	{"box is gone\n    at async Promise.all (index 0)", "box is gone"},
	// texts that grow with each attempt, and long ones whose names differ in length
	{"connection refused; connection refused", "connection refused; connection refused; connection refused", "connection refused"},
	{"open failed: attempt 1: connect ECONNREFUSED 10.0.0.1:80; attempt 2: connect ECONNREFUSED 10.0.0.2:80", "open failed: attempt 1: connect ECONNREFUSED 10.0.0.1:80; attempt 2: connect ECONNREFUSED 10.0.0.2:80; attempt 3: connect ECONNREFUSED 10.0.0.3:80",
		"open failed: " + strings.Repeat("attempt 7: connect ECONNREFUSED 10.0.0.1:80; ", 30), "open failed: " + strings.Repeat("attempt 12: connect ECONNREFUSED 10.0.0.1:80; ", 200)},
	{"Kanal zu anna zerrissen; Kanal zu anna zerrissen", "Kanal zu anna zerrissen; Kanal zu anna zerrissen; Kanal zu anna zerrissen"},
	{"sandbox ann failed: " + strings.Repeat("node 12 of pool west is not ready since 12:01 and its volume cannot be mounted; ", 9), "sandbox nightly-crawler-of-the-report-team-europe failed: " + strings.Repeat("node 7 of pool west is not ready since 12:01 and its volume cannot be mounted; ", 11)},
	{"pod " + strings.Repeat("x", 3) + " lost: " + longText, "pod " + strings.Repeat("checkout-", 12) + "eu lost: " + longText, "pod web-7d4b9c-xkzqp lost: " + longText + " and then some more of it, request 12"},
	// identifiers
	{"object QmFzZVNpeHR5Rm91cg== was not found", "object aGVsbG8gd29ybGQhISE= was not found", "object kJhGfDsAqWeRtYuI was not found"},
	{"ref 01ARZ3NDEKTSV4RRFFQ69G5FAV is stale", "ref 01BX5ZZKBKACTAV9WEVGEMMVRZ is stale"},
	{"sandbox sbx_76fca18e is gone", "sandbox sbx_0a91b77c is gone", "Sandbox sbx_fadebeca is gone"},
	{"session 3f2b8c1e-9d4a-4b6e-8c7f-1a2b3c4d5e6f failed", "session 00000000-1111-2222-3333-444444444444 failed"},
	{"No such container: 76fca18e9a01", "No such container: brave_turing"},
	{"lease 0x1f held by w12", "lease 0x2a held by w7"},
	// Node
	{"connect ECONNREFUSED 10.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:8080", "connect ECONNREFUSED ::1:5432"},
	{"getaddrinfo ENOTFOUND db.internal", "getaddrinfo ENOTFOUND registry.example.com"},
	{"ENOENT: no such file or directory, open '/tmp/helix-ws-a1B2c3/x'", "ENOENT: no such file or directory, open '/tmp/helix-ws-ZZ9/other/y'"},
	{"EACCES: permission denied, mkdir '/var/lib/agents'", "EACCES: permission denied, mkdir '/srv/x'"},
	{"Cannot find module 'express'\nRequire stack:\n- /app/index.js"[:28], "Cannot find module 'left-pad'"},
	{"Cannot read properties of undefined (reading 'open')", "Cannot read properties of undefined (reading 'id')"},
	{"Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", "Unexpected token 'H', \"Hello, wor\"... is not valid JSON"},
	{"read ECONNRESET", "read ECONNRESET."},
	// Go
	{"dial tcp 10.0.0.1:5432: connect: connection refused", "dial tcp 10.0.0.27:5433: connect: connection refused", "dial tcp [::1]:5433: connect: connection refused"},
	{"dial tcp: lookup db.internal on 10.0.0.2:53: no such host", "dial tcp: lookup cache.internal on 10.0.0.3:53: no such host"},
	{"Get \"https://a.example/x?y=1\": context deadline exceeded", "Get \"http://b.example:8080/z\": context deadline exceeded"},
	{"open /etc/agents/a.toml: permission denied", "open /srv/b.toml: permission denied"},
	{"exec: \"git\": executable file not found in $PATH", "exec: \"rg\": executable file not found in $PATH"},
	// Python
	{"No module named 'numpy'", "No module named 'pandas'", "ModuleNotFoundError: No module named 'requests'"},
	{"KeyError: 'user'"[:0] + "dictionary key 'user' missing", "dictionary key 'tenant' missing"},
	{"[Errno 28] No space left on device: '/tmp/a'", "[Errno 28] No space left on device: '/var/b'"},
	{"HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /v1/x", "HTTPSConnectionPool(host='b.example.com', port=8443): Max retries exceeded with url: /v2/y"},
	// Docker
	{"pull access denied for agents/box, repository does not exist or may require 'docker login'", "pull access denied for acme/runner, repository does not exist or may require 'docker login'"},
	{"manifest for registry.example.com/agents/box:1.4 not found: manifest unknown", "manifest for ghcr.io/acme/runner:latest not found: manifest unknown"},
	{"driver failed programming external connectivity on endpoint web-1 (4bf92f3577b34da6a3ce929d0e0e4736): Bind for 0.0.0.0:8080 failed: port is already allocated", "driver failed programming external connectivity on endpoint api-2 (00f067aa0ba902b7): Bind for 0.0.0.0:9090 failed: port is already allocated"},
	{"container exited with code 137", "container exited with code 1"},
	{"write failed: errno 28", "write failed: errno 13"},
	// Cloudflare and Helix
	{"upstream answered HTTP 401", "upstream answered HTTP 503", "upstream answered HTTP 503 Service Unavailable", "upstream answered HTTP 401: Unauthorized."},
	{"HTTP 401 Unauthorized", "HTTP 503 Service Unavailable", "HTTP 502"},
	{"max_instances reached (60/60)", "max_instances reached (12/12)"},
	{"ref schemaVersion 4 is outside the supported range 1-3", "ref schemaVersion 5 is outside the supported range 2-4"},
	{"Network connection lost. (sandbox i-0a1b2c3d)", "Network connection lost. (sandbox i-99887766)"},
	{"Durable Object reset because its code was updated.", "Durable Object reset because its code was updated"},
	{"capability snapshot is declared but backupR2Binding is not bound (request 0a1b2c3d)", "capability snapshot is declared but backupR2Binding is not bound (request ffee1122)"},
	{`{"errors":[{"code":10007,"message":"Container not found: 76fca18e"}]}`, `{"errors":[{"code":10007,"message":"Container not found: 0a91b77c"}]}`},
	// TLS
	{"x509: certificate is valid for a.example, not b.example", "x509: certificate is valid for c.example.com, not d.example.com"},
	{"Hostname/IP does not match certificate's altnames: Host: a.example. is not in the cert's altnames: DNS:b.example", "Hostname/IP does not match certificate's altnames: Host: c.example. is not in the cert's altnames: DNS:d.example"},
}

// Pairs of texts with different causes, however alike they look.
var twoCauses = [][2]string{
	{"R2 bucket unreachable", "S3 bucket unreachable"},
	{"max_instances reached", "quota reached"},
	{"EACCES: permission denied", "EPERM: operation not permitted"},
	{"db connection refused", "ip6 connection refused"},
	{"added", "removed"},
	{"connection refused", "connection reset"},
	{"connect ECONNREFUSED 10.0.0.1:5432", "connect ECONNRESET 10.0.0.1:5432"},
	{"connect ETIMEDOUT 10.0.0.1:443", "connect EHOSTUNREACH 10.0.0.1:443"},
	{"read ECONNRESET", "write ECONNRESET"},
	{"getaddrinfo ENOTFOUND db.internal", "getaddrinfo EAI_AGAIN db.internal"},
	{"failed to pull image: unauthorized", "failed to pull image: not found"},
	{"failed to pull image: timeout", "failed to pull image: quota exceeded"},
	{"image pull failed: manifest unknown", "image pull failed: access denied"},
	{"sandbox not found", "container not found"},
	{"module not found", "binding not found"},
	{"session is open", "session is not open"},
	{"can open the workspace", "can't open the workspace"},
	{"cannot read file", "cannot write file"},
	{"isn't open", "was not open"},
	{"SQLITE_BUSY: database is locked", "SQLITE_FULL: database or disk is full"},
	{"SQLITE_BUSY", "SQLITE_CORRUPT"},
	{"database is locked", "database disk image is malformed"},
	{"no such table: sessions", "no such column: sessions"},
	{"UNIQUE constraint failed: a.id", "FOREIGN KEY constraint failed"},
	{"UNIQUE constraint failed: a.id", "NOT NULL constraint failed: a.id"},
	{"attempt to write a readonly database", "unable to open database file"},
	{"ENOSPC: no space left on device", "EDQUOT: disk quota exceeded"},
	{"EMFILE: too many open files", "ENOMEM: not enough memory"},
	{"[Errno 28] No space left on device", "[Errno 13] Permission denied"},
	{"certificate has expired", "certificate is not yet valid"},
	{"self-signed certificate", "unable to verify the first certificate"},
	{"x509: certificate signed by unknown authority", "x509: certificate has expired or is not yet valid"},
	{"remote error: tls: bad certificate", "remote error: tls: handshake failure"},
	{"ERR_TLS_CERT_ALTNAME_INVALID", "ERR_SSL_WRONG_VERSION_NUMBER"},
	{"NXDOMAIN for db.internal", "SERVFAIL for db.internal"},
	{"no such host", "no route to host"},
	{"lookup a.example: no such host", "lookup a.example: i/o timeout"},
	{"dial tcp 10.0.0.1:80: i/o timeout", "dial tcp 10.0.0.1:80: connect: connection refused"},
	{"read tcp 10.0.0.1:80: i/o timeout", "write tcp 10.0.0.1:80: broken pipe"},
	{"context deadline exceeded", "context canceled"},
	{"unexpected EOF", "unexpected end of JSON input"},
	{"413 Payload Too Large", "429 Too Many Requests"},
	{"401 Unauthorized", "403 Forbidden"},
	{"rate_limited", "not_found"},
	{"rate-limit-exceeded", "quota-exceeded"},
	{`{"error":"invalid_grant"}`, `{"error":"invalid_client"}`},
	{`{"code":"NOT_FOUND"}`, `{"code":"ALREADY_EXISTS"}`},
	{"reason=OOMKilled", "reason=Error"},
	{"pod web-1: OOMKilled", "pod web-1: CrashLoopBackOff"},
	{"pod web-1: ErrImagePull", "pod web-1: CreateContainerConfigError"},
	{"OOMKilled", "ContainerCannotRun"},
	{"Liveness probe failed: connection refused", "Readiness probe failed: connection refused"},
	{"0/3 nodes are available: 3 Insufficient memory", "0/3 nodes are available: 3 Insufficient cpu"},
	{"OCI runtime create failed: exec: \"node\": executable file not found in $PATH", "OCI runtime create failed: exec: \"node\": permission denied"},
	{"No such container: 76fca18e9a01", "No such image: 76fca18e9a01"},
	{"port is already allocated", "container name is already in use"},
	{"Cannot connect to the Docker daemon", "permission denied while trying to connect to the Docker daemon"},
	{"TypeError: x is not a function", "TypeError: x is not iterable"},
	{"x is not defined", "x is not a function"},
	{"Cannot read properties of undefined (reading 'a')", "Cannot read properties of null (reading 'a')"},
	{"JavaScript heap out of memory", "Maximum call stack size exceeded"},
	{"Worker exceeded CPU time limit", "Worker exceeded memory limit"},
	{"Durable Object is overloaded", "Durable Object reset because its code was updated"},
	{"D1_ERROR: no such table: x", "D1_ERROR: too many SQL variables"},
	{"snapshot requires a backup bucket", "snapshot requires a newer release"},
	{"schemaVersion mismatch", "SQLite migration missing"},
	{"object is not subscriptable", "object is not callable"},
	{"list index out of range", "dictionary changed size during iteration"},
	{"maximum recursion depth exceeded", "maximum call stack size exceeded"},
	{"ref schemaVersion 4 is outside the supported range 1-3", "ref has unrecognized key 'x'"},
	{"WorkspaceFailedError: destroy failed", "WorkspaceFailedError: open failed"},
	{"lease expired", "lease lost"},
	{"container runtime failed", "container failed"},
	{"agent process crashed", "agent handshake crashed"},
	{"open failed (connection refused)", "open failed (permission denied)"},
	{"Verbindung abgelehnt", "Datei fehlt"},
	{"foo", "bar"},
	{"SIGKILL", "SIGTERM"},
	{"killed by SIGKILL", "killed by SIGSEGV"},
	{"fetch failed\n  [cause]: Error: connect ECONNREFUSED 1.2.3.4:80", "fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND a.example"},
	{"TypeError: fetch failed\n    at node:internal/deps/undici/undici:12345:11\n    at async f (file:///app/x.js:1:2) {\n  [cause]: Error: connect ECONNREFUSED 1.2.3.4:80\n    at a (node:net:1:2)\n}", "TypeError: fetch failed\n    at node:internal/deps/undici/undici:12345:11\n    at async f (file:///app/x.js:1:2) {\n  [cause]: Error: certificate has expired\n    at b (node:tls:1:2)\n}"},
	{"permission denied: /tmp", "read-only file system: /tmp"},
	{"git clone failed: repository not found", "git clone failed: authentication failed"},
	{"npm ERR! code E404", "npm ERR! code EACCES"},
	{"provider modal lacks module shell", "provider modal lacks binding shell"},
	{"lock is held by another process", "lock file is corrupt"},
}

func TestTextsOfOneCause(t *testing.T) {
	n := 0
	for _, same := range oneCause {
		want := identity(same[0])
		for _, text := range same[1:] {
			n++
			if got := identity(text); got != want {
				t.Errorf("%q reads %q\n%q reads %q", same[0], want, text, got)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d pairs", n)
	}
}

func TestTextsOfDifferentCauses(t *testing.T) {
	for _, pair := range twoCauses {
		if a := identity(pair[0]); a == identity(pair[1]) {
			t.Errorf("%q and %q both read %q", pair[0], pair[1], a)
		}
	}
	if len(twoCauses) < 60 {
		t.Errorf("only %d pairs", len(twoCauses))
	}
}

// show writes the values of a text, with their labels.
func show(values []byte) string {
	var parts []string
	for _, v := range Values(string(values)) {
		parts = append(parts, v.Label+"="+v.Text)
	}
	return strings.Join(parts, " ")
}

func TestValuesThatTellVariantsApart(t *testing.T) {
	for text, want := range map[string]string{
		"upstream answered HTTP 401":                                       "http=401",
		"GET https://api.example.com/v1/boxes?id=1: 503":                   "get=https://api.example.com/v1/boxes status=503",
		"write failed: errno 28":                                           "errno=28",
		"container exited with code 137":                                   "code=137",
		"exit status 1":                                                    "status=1",
		"killed by signal 9":                                               "signal=9",
		"dial tcp 10.0.0.1:5432: connection refused":                       "port=5432",
		"connect to db.internal:5432 failed":                               "port=5432 connect=db.internal",
		"ref schemaVersion 4 is outside the supported range 1-3":           "schemaversion=4",
		"binding 'SANDBOX' is not defined":                                 "binding='SANDBOX'",
		"env.SANDBOX is undefined":                                         "env=SANDBOX",
		"Cannot find module 'express'":                                     "module='express'",
		"image registry.example.com/agents/box:1.4 not found":              "image=registry.example.com/agents/box:1.4",
		"open '/tmp/helix-ws-a1B2c3/notes.txt': permission denied":         "open='/tmp/helix-ws-*/notes.txt'",
		"bucket agents-eu unreachable (request be393ae5, after 30s)":       "bucket=agents-eu",
		"pod web-7d4b9c-xkzqp failed session=3f2b8c1e region=eu-west-1":    "pod=web-* region=eu-west-1",
		"node v20.1.0 is not supported":                                    "node=v20.1.0",
		`{"errors":[{"code":10007,"message":"Container not found"}]}`:      "code=10007",
		"gave up after three attempts at Sun, 22 Nov 2026 16:15:18 GMT":    "",
		"dial tcp 10.0.0.1:443: refused; dial tcp 10.0.0.2:443: refused":   "port=443",
		"volume /hQ+wMoYh1sX is busy":                                      "",
		"spawn git ENOENT":                                                 "spawn=git",
		"TypeError: fetch failed":                                          "",
		"WorkspaceFailedError: Error: lease AbXcDeFgHk lost":               "",
		"HTTPSConnectionPool(host='api.example.com', port=443): timed out": "host=api.example.com port=443",
		"connect ETIMEDOUT [fd00:3a2f::4be1]:8443":                         "port=8443",
		"connect ECONNREFUSED ::1:443":                                     "port=443",
		"connect ETIMEDOUT [fd00:3a2f::3205]:8443":                         "port=8443",
		"connect ECONNREFUSED ::1":                                         "",
		"EACCES: permission denied, mkdtemp '/tmp/helix-ws-APyhzA'":        "mkdtemp='/tmp/helix-ws-*'",
		"EACCES: permission denied, mkdtemp '/tmp/helix-ws-ocmkiy'":        "mkdtemp='/tmp/helix-ws-*'",
		"cannot lock file '/work/FmAIhG/db.lock'":                          "file='/work/*/db.lock'",
		"cannot lock file '/work/GitHub/db.lock'":                          "file='/work/GitHub/db.lock'",
		"cannot lock file '/tmp/tmp.aBcDeFgHiJ/x'":                         "file='/tmp/tmp.*/x'",
		"zone europe-west4 is full":                                        "zone=europe-west4",
		"failed with E1001":                                                "failed=E1001",
		"NTSTATUS 0xc0000005 in worker":                                    "ntstatus=0xc0000005",
		"SQLSTATE[42P01]: relation is missing":                             "sqlstate=42P01",
	} {
		var r Reader
		r.Read(text)
		if got := strings.ReplaceAll(show(r.Values), "HTTPSConnectionPool", ""); got != want {
			t.Errorf("%q has %q, want %q (reads %q)", text, got, want, r.Words)
		}
	}
}
