package alerts

import (
	"testing"

	"sandglass/backend"
)

// TestOtherWordingsOfRecognisedTexts reads what frameworks, engines, drivers and proxies write, with other words, quotes and cases.
func TestOtherWordingsOfRecognisedTexts(t *testing.T) {
	for _, c := range []struct {
		want  Naming
		texts []string
	}{
		{NamesBinding, []string{"binding 'SANDBOX' is not declared", "Binding \"SANDBOX\" isn't declared in wrangler.toml", "The binding `FILES` has not been declared", "no binding named SANDBOX", "binding SANDBOX is unbound", "Missing required binding: SANDBOX", "Could not find binding “SANDBOX”", "env.SANDBOX is not set", "env.SANDBOX is not bound", "env['SANDBOX'] is undefined", "binding SANDBOX was not provided", "Durable Object binding 'SANDBOX' isn't configured", "BINDING SANDBOX NOT FOUND", "undeclared binding SANDBOX", "binding not declared: SANDBOX", "the Worker has no binding called SANDBOX"}},
		{NamesModule, []string{"provider local-bash does not support capability 'snapshot-fs'", "provider modal doesn't support capability shell", "Capability 'shell' is not supported by provider", "provider lacks capability shell", "capability shell not declared", "provider has no capability named exec", "capability 'exec' is unavailable on this provider", "capability 'exec' isn't available", "unsupported capability: exec", "capability exec is not declared by the provider"}},
		{NamesSQLite, []string{"ctx.storage.sql is undefined", "Cannot read properties of undefined (reading 'sql')", "this.ctx.storage.sql is not a function", "Durable Object class is not SQLite-backed", "SQLite storage is not enabled for this namespace", "requires SQLite storage backend", "Class must use new_sqlite_classes", "undefined is not an object (evaluating 'ctx.storage.sql')", "storage.sql is not available", "state.storage.sql is undefined", "The Durable Object namespace isn't configured to use SQLite"}},
		{NamesPOSIX, []string{"found win32", "local-bash needs a POSIX host, found win32", "not a POSIX platform: win32", "platform win32 is not supported", "unsupported platform: win32", "requires a POSIX-compliant host", "local-bash does not run on Windows", "Windows is not supported", "process.platform is 'win32'", "POSIX host required (got win32)", "this host is not POSIX"}},
		{NamesImage, []string{"pull access denied for x", "manifest for x:1 not found: manifest unknown", "failed to pull image \"x\"", "Back-off pulling image x", "ErrImagePull", "image pull failed: unauthorized", "error pulling image configuration", "No such image: x", "Unable to find image 'x:latest' locally", "could not fetch image x", "image x could not be found", "image registry unreachable", "toomanyrequests: You have reached your pull rate limit", "image x was not found in registry", "couldn't pull image x", "image can't be pulled", "invalid reference format", "repository does not exist or may require 'docker login'", "image_pull_failed", "pulling image x: context deadline exceeded", "ImagePullBackoff", "failed to resolve reference \"docker.io/x\": not found", "image platform (linux/arm64) does not match"}},
		{NamesQuota, []string{"max_instances reached", "Maximum number of instances reached", "maxInstances exceeded", "instance quota exceeded", "Too many running containers", "container limit exceeded", "concurrent sandbox limit reached", "You have exceeded your quota of sandboxes", "no capacity for new containers", "There is no container instance that can be provided to this durable object", "no free instance", "out of instances", "instance limit (60) has been reached", "quota of instances is used up", "QUOTA_EXCEEDED: instances"}},
		{NamesStorage, []string{"R2 bucket 'x' unreachable", "R2_ERROR: internal error", "NoSuchBucket: The specified bucket does not exist", "r2 put failed", "R2: 503", "S3 error: SlowDown", "object store unavailable"}},
		{NamesDatabase, []string{"D1_ERROR: no such table", "D1 DB is overloaded", "D1_EXEC_ERROR: near line 1", "D1 database unavailable", "d1: too many requests queued", "D1_TYPE_ERROR: x", "D1_COLUMN_NOTFOUND", "D1_DUMP_ERROR"}},
		{NamesNetwork, []string{"read ECONNRESET", "Connection reset by peer", "connection was reset", "connection has been closed", "ECONNREFUSED 1.2.3.4:80", "connect: connection refused", "socket hang up", "The socket connection was closed unexpectedly", "Broken pipe", "write EPIPE", "client network socket disconnected before secure TLS connection was established", "network connection lost", "Network unreachable", "network is unreachable", "no route to host", "Connection timed out", "connection timeout", "connection aborted", "remote end closed connection without response", "Server disconnected", "stream was reset", "RST_STREAM", "ERR_STREAM_PREMATURE_CLOSE", "Premature close", "UND_ERR_CONNECT_TIMEOUT", "other side closed", "could not connect to server", "Unable to connect. Is the computer able to access the url?",
			"getaddrinfo ENOTFOUND x", "no such host", "Temporary failure in name resolution", "Name or service not known", "NXDOMAIN", "SERVFAIL", "DNS lookup failed", "could not resolve host: x", "dns error: failed to lookup address information", "nodename nor servname provided", "EAI_AGAIN",
			"certificate has expired", "self-signed certificate in certificate chain", "x509: certificate signed by unknown authority", "unable to verify the first certificate", "TLS handshake timeout", "SSL routines:ssl3_get_record:wrong version number", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "tls: bad certificate", "handshake failure", "ERR_TLS_CERT_ALTNAME_INVALID", "SSL: CERTIFICATE_VERIFY_FAILED"}},
		{NamesSpace, []string{"ENOSPC: no space left on device", "No space left on device", "disk is full", "Disk full", "the disk quota is exceeded", "EDQUOT: disk quota exceeded", "Disk quota exceeded", "file system is full", "filesystem full", "out of disk space", "insufficient disk space", "not enough space on the disk", "not enough disk space", "no space left", "[Errno 28]", "SQLITE_FULL: database or disk is full", "no free inodes", "volume is full"}},
		{NamesMemory, []string{"Out of memory", "OOMKilled", "oom-killed", "ENOMEM: not enough memory", "Cannot allocate memory", "killed by the OOM killer", "memory cgroup out of memory", "exited with code 137", "exit status 137"}},
		{NamesEngine, []string{"Cannot connect to the Docker daemon", "Is the docker daemon running?", "docker daemon is not running", "couldn't connect to Docker daemon", "containerd is not running", "Docker Desktop is not running", "Could not reach the Docker engine", "permission denied while trying to connect to the Docker daemon socket"}},
		{0, []string{"something odd happened", "capability of the agent was praised", "the image of the situation", "limit of patience", "open the windows", "the disk jockey is full of energy", "certified letter"}},
	} {
		for _, x := range c.texts {
			e := Env{causes: causes{at: map[string]int{}}, prints: map[string]string{}, values: map[string]string{}, mined: true}
			if got := e.Names(backend.Clean(x, 400)); got&c.want != c.want || c.want == 0 && got != 0 {
				t.Errorf("%q names %b, want %b", x, got, c.want)
			}
		}
	}
}
