package bridge

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Cause is what an error of a bridge means for the operator.
type Cause string

// The causes. Codes that are not known have CauseOther, and are shown word for word.
const (
	CauseOther        Cause = "other"
	CauseKey          Cause = "key"          // the key is wrong, or missing
	CauseRequest      Cause = "request"      // the bridge does not take such a request
	CauseCeiling      Cause = "ceiling"      // as many containers as are allowed run: end one
	CauseNoInstance   Cause = "no-instance"  // the platform has none to give now
	CausePool         Cause = "pool"         // the pool could not start a container
	CauseStarting     Cause = "starting"     // the container starts, or was replaced
	CauseStartup      Cause = "startup"      // the container cannot start, for good
	CauseUnreachable  Cause = "unreachable"  // the container does not answer its object
	CauseIncompatible Cause = "incompatible" // the versions of Worker and container do not understand each other
	CauseSpawn        Cause = "spawn"        // a command could not begin
	CauseUnknownError Cause = "unknown"      // "Unknown Error, TODO": a command could not begin, see case A of a working directory
	CauseFile         Cause = "file"         // a file, directory or disk
	CauseSession      Cause = "session"
	CauseGone         Cause = "gone"
)

// Problem is an error that a bridge answers, or sends in a stream.
type Problem struct {
	Status int
	Code   string // the bridge's word
	Reason string // of CONTAINER_UNAVAILABLE and OPERATION_INTERRUPTED
	Text   string // as it came
	Cause  Cause
	// Used and Limit are the containers that run and that may run, where the text tells them; else 0.
	Used, Limit int
	// After is how long the container's own error asks to wait; 0: it does not say.
	After time.Duration
	// Final says that it is no use to ask again although the status is 503.
	Final bool
}

// UnknownError is what an old Bun writes instead of a cause (cloudflare/sandbox-sdk#288).
const UnknownError = backend.MarkNotStarted

var limitReached = regexp.MustCompile(`instance limit reached \((\d{1,6})/(\d{1,6})\)`)

// codes are the words of the bridge and of the SDK below it.
var codes = map[string]Cause{
	"unauthorized": CauseKey, "invalid_request": CauseRequest, "payload_too_large": CauseRequest, "capacity_exceeded": CauseCeiling,
	"pool_error": CausePool, "exec_error": CauseSpawn, "exec_transport_error": CauseSpawn, "session_error": CauseSession,
	"workspace_read_not_found": CauseFile, "workspace_archive_read_error": CauseFile, "workspace_archive_write_error": CauseFile,
	"mount_error": CauseFile, "unmount_error": CauseFile,
	"RPC_TRANSPORT_ERROR": CauseUnreachable, "CONTROL_PROTOCOL_INCOMPATIBLE": CauseIncompatible,
	"INVALID_PROCESS_CWD": CauseSpawn, "PROCESS_SPAWN_FAILED": CauseSpawn, "COMMAND_EXECUTION_ERROR": CauseSpawn, "STREAM_START_ERROR": CauseSpawn,
	"SESSION_TERMINATED": CauseSession, "SESSION_DESTROYED": CauseSession, "SESSION_ALREADY_EXISTS": CauseSession,
	"FILE_NOT_FOUND": CauseFile, "NOT_DIRECTORY": CauseFile, "PERMISSION_DENIED": CauseFile, "NO_SPACE": CauseFile, "TOO_MANY_FILES": CauseFile,
	"READ_ONLY": CauseFile, "FILESYSTEM_ERROR": CauseFile, "OPERATION_INTERRUPTED": CauseStarting,
}

// reasons are why a container cannot be used (CONTAINER_UNAVAILABLE).
var reasons = map[string]Cause{
	"container_starting": CauseStarting, "container_replaced": CauseStarting, "container_unhealthy": CauseUnreachable,
	"rpc_upgrade_failed": CauseUnreachable, "container_unreachable": CauseUnreachable,
	"no_container_instance_available": CauseNoInstance, "max_container_instances_exceeded": CauseCeiling,
	"runtime_replaced": CauseStarting, "transport_disposed": CauseStarting,
}

// final are the reasons of OPERATION_INTERRUPTED after which nothing comes back.
var final = []string{"sandbox_lifetime_changed", "recovery_exhausted"}

// ReadProblem reads an answer that is no success, or the data of an error event (status 200).
func ReadProblem(status int, body []byte) Problem {
	p, startup := Problem{Status: status, Cause: CauseOther}, false
	doc, err := wire.Parse(body)
	if err != nil || doc.Root().Kind() != '{' {
		p.Text = strings.TrimSpace(string(body[:min(len(body), 2000)]))
	} else {
		root := doc.Root()
		p.Text, _ = root.Get("error").Text()
		if p.Text == "" {
			p.Text, _ = root.Get("message").Text()
		}
		p.Code, _ = root.Get("code").Text()
		context := root.Get("context")
		p.Reason, _ = context.Get("reason").Text()
		phase, _ := context.Get("phase").Text()
		startup = phase == "startup"
		if ms, ok := context.Get("retryAfterMs").Float(); ok && ms > 0 && ms < float64(time.Hour/time.Millisecond) {
			p.After = time.Duration(ms) * time.Millisecond
		}
		if again, ok := context.Get("retryable").Bool(); ok && !again {
			p.Final = true
		}
	}
	p.Cause = p.cause()
	if startup && status == http.StatusInternalServerError && p.Code == "INTERNAL_ERROR" { // with 503 it only starts
		p.Cause = CauseStartup
	}
	p.Final = p.Final || slices.Contains(final, p.Reason)
	if m := limitReached.FindStringSubmatch(p.Text); m != nil {
		p.Used, _ = strconv.Atoi(m[1])
		p.Limit, _ = strconv.Atoi(m[2])
	}
	return p
}

func (p *Problem) cause() Cause {
	low := strings.ToLower(p.Text)
	switch {
	case strings.Contains(p.Text, UnknownError):
		return CauseUnknownError
	case strings.Contains(p.Text, "CONTROL_PROTOCOL_INCOMPATIBLE"):
		return CauseIncompatible
	case strings.Contains(low, "maximum number of running container instances exceeded"), strings.Contains(low, "instance limit reached"):
		return CauseCeiling
	case strings.Contains(low, "there is no container instance that can be provided"):
		return CauseNoInstance
	}
	if c, known := reasons[p.Reason]; known {
		return c
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) { // a bridge puts the error of the SDK into its own text
		if p.Code != "" && strings.Contains(p.Text, reason) {
			return reasons[reason]
		}
	}
	if c, known := codes[p.Code]; known {
		return c
	}
	switch p.Status {
	case http.StatusUnauthorized:
		return CauseKey
	case http.StatusNotFound, http.StatusGone:
		return CauseGone
	}
	return CauseOther
}

// NoDirectory reports whether the text says that a process could not begin for a directory that is missing. It names the shell,
// but the directory is what is not there. Over the transport rpc the text does not tell it.
func (p *Problem) NoDirectory() bool {
	return strings.Contains(p.Text, "ENOENT") && strings.Contains(p.Text, "posix_spawn")
}

// waits is how long a caller waits before each further try.
var waits = []time.Duration{3 * time.Second, 6 * time.Second, 12 * time.Second, 24 * time.Second, 30 * time.Second}

// Again is how long to wait before the same call is sent once more after the n-th try, from 1; false: it is not. Only a 503 is
// repeated, which says that nothing was begun, and never where something must be ended first.
func (p *Problem) Again(n int, asked time.Duration) (time.Duration, bool) {
	if p.Status != http.StatusServiceUnavailable || p.Final || p.Cause == CauseCeiling || p.Cause == CauseNoInstance || p.Cause == CauseIncompatible || n < 1 {
		return 0, false
	}
	if asked = max(asked, p.After); asked > 0 {
		return asked, true
	}
	return waits[min(n, len(waits))-1], true
}
