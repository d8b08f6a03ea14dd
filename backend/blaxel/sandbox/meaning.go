package sandbox

import (
	"net/http"
	"strings"
)

// Meaning is what a refusal of a request to a sandbox says about the sandbox or its part.
type Meaning string

// The meanings.
const (
	MeansUnknown    Meaning = "unknown"
	MeansGone       Meaning = "gone"         // the platform has no such sandbox
	MeansWaking     Meaning = "waking"       // it exists and does not answer yet: the same read may be asked again
	MeansTransient  Meaning = "transient"    // the network before it, or the platform, failed: whether the sandbox works is not known
	MeansBroken     Meaning = "broken"       // its own server could not carry it out: the sandbox is awake, and the fault is in it
	MeansEdgeLimit  Meaning = "edge limit"   // the network before it gave up waiting: what was asked may go on inside
	MeansGoesOn     Meaning = "goes on"      // the wait for a command ended, and the command goes on
	MeansNoDir      Meaning = "no directory" // a command did not begin since its working directory is not there
	MeansNotStarted Meaning = "not started"  // a command did not begin for another reason
	MeansFull       Meaning = "full"         // the disk of the sandbox is full
	MeansMissing    Meaning = "missing"      // no such file or directory
	MeansNoProcess  Meaning = "no process"   // no such process
	MeansNotRunning Meaning = "not running"  // the process was asked to end before, or is over: which of both a new reading tells
	MeansNoSignal   Meaning = "no signal"    // nothing of the process is left to signal
	MeansNoRoute    Meaning = "no route"     // this version of the server has no such route
	MeansKey        Meaning = "key"          // the key is not accepted
	MeansLimit      Meaning = "limit"        // the platform limits requests or use
	MeansRequest    Meaning = "request"      // the request itself is wrong
)

// Meaning reads it from the status, the origin and the text: no two of them say enough. A gateway that gave up waiting is told by
// how long it took: at once it only says that it reached nothing.
func (r *Refusal) Meaning() Meaning {
	text := strings.ToLower(r.Message)
	inside := r.Origin == OriginInside
	switch {
	case r.Gone():
		return MeansGone
	case r.Waking():
		return MeansWaking
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden:
		return MeansKey
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusPaymentRequired:
		return MeansLimit
	case r.Origin == OriginRouter, r.Code == CodeNoRoute:
		return MeansNoRoute
	case (r.Status == http.StatusGatewayTimeout || r.Status == http.StatusRequestTimeout) && r.Took >= edgeWait:
		return MeansEdgeLimit
	case inside && r.Status == http.StatusInternalServerError && !r.Retryable:
		return MeansBroken
	case r.Status == http.StatusGatewayTimeout, r.Status == http.StatusRequestTimeout, r.Status == http.StatusBadGateway, r.Status == http.StatusServiceUnavailable, r.Status == http.StatusInternalServerError, r.Retryable:
		return MeansTransient
	case inside && r.Status == http.StatusUnprocessableEntity:
		return unprocessable(text)
	case inside && r.Status == http.StatusNotFound:
		return notFound(text)
	case inside && r.Status == http.StatusBadRequest:
		return MeansRequest
	}
	return MeansUnknown
}

// unprocessable reads a 422 of the server inside: it stands for a wait that ended, for what did not begin, and for a full disk.
func unprocessable(text string) Meaning {
	switch {
	case strings.Contains(text, "process timed out"):
		return MeansGoesOn
	case strings.Contains(text, "no space left"):
		return MeansFull
	case strings.Contains(text, "folder") && strings.Contains(text, "does not exist"):
		return MeansNoDir
	case strings.Contains(text, "failed to start process"):
		return MeansNotStarted
	}
	return MeansRequest
}

// notFound reads a 404 of the server inside: of a process it stands for three cases.
func notFound(text string) Meaning {
	process := strings.Contains(text, "process")
	switch {
	case strings.Contains(text, "is not running"):
		return MeansNotRunning
	case strings.Contains(text, "no such process"):
		return MeansNoSignal
	case process && strings.Contains(text, "not found"):
		return MeansNoProcess
	case strings.Contains(text, "no such file"), strings.Contains(text, "file or directory not found"):
		return MeansMissing
	}
	return MeansUnknown
}

// Again reports whether a read may be sent once more.
func (m Meaning) Again() bool { return m == MeansWaking || m == MeansTransient }

// Said tells a Meaning in a sentence about the sandbox; empty: the refusal itself says what there is to say.
func (m Meaning) Said() string {
	switch m {
	case MeansGone:
		return "the platform has no such sandbox"
	case MeansWaking:
		return "it exists and does not answer yet"
	case MeansTransient:
		return "the platform or the network before it failed, which it does while a sandbox wakes too: nothing is known of the sandbox"
	case MeansBroken:
		return "that is its own server's answer: the sandbox was awake, and the fault is in it"
	case MeansEdgeLimit:
		return "the network before it gave up waiting, which it does after about 60s: what was asked may go on inside"
	case MeansGoesOn:
		return "only the wait for the command ended: the command goes on"
	case MeansNoDir:
		return "its working directory is not there"
	case MeansFull:
		return "its disk is full"
	case MeansNotRunning:
		return "it was asked to end before, or is over"
	case MeansNoSignal:
		return "nothing of it is left that could be signalled"
	case MeansNoRoute:
		return "this version of its server has no such route"
	case MeansKey:
		return "the key is not accepted: check it ([source.act], [source.read])"
	case MeansLimit:
		return "the platform limits requests or use of the workspace"
	case MeansUnknown, MeansNotStarted, MeansMissing, MeansNoProcess, MeansRequest:
	}
	return ""
}
