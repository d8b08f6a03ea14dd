package backend

import (
	"net/http"
	"strings"
)

// SDKAnswer is what the platform, or the server inside a sandbox, answered a call of an agent SDK, where the agent's log tells more of it
// than the class of the error and the status. It is what a probe would tell of the same answer.
type SDKAnswer string

// CodeUsage is the platform's own code for a workspace whose usage limit is met.
const CodeUsage = "USAGE_LIMIT_EXCEEDED"

// The answers.
const (
	AnswerGone   SDKAnswer = "no such sandbox"
	AnswerWaking SDKAnswer = "not answering yet"
	AnswerGoesOn SDKAnswer = "the process goes on"
	AnswerFull   SDKAnswer = "disk full"
	AnswerDenied SDKAnswer = "permission denied"
	AnswerAccess SDKAnswer = "access check failed"
	AnswerKey    SDKAnswer = "key not accepted"
	AnswerNoDir  SDKAnswer = "directory missing"
	AnswerUsage  SDKAnswer = "usage limit met" // of the whole workspace
)

var sdkAnswers = [...]SDKAnswer{AnswerGone, AnswerWaking, AnswerGoesOn, AnswerFull, AnswerDenied, AnswerAccess, AnswerKey, AnswerNoDir, AnswerUsage}

// AnswerIn reads the answer from a text and its HTTP status, 0 where none is told; empty: they tell no more. A full disk is told by a
// 422 only: other answers quote what was on a disk somewhere else.
func AnswerIn(text string, status int) SDKAnswer {
	lower := strings.ToLower(text)
	inside := status == http.StatusUnprocessableEntity
	switch {
	case strings.Contains(text, CodeUsage), status == http.StatusPaymentRequired:
		return AnswerUsage
	case strings.Contains(text, "WORKLOAD_NOT_FOUND"):
		return AnswerGone
	case strings.Contains(text, "WORKLOAD_UNAVAILABLE"):
		return AnswerWaking
	case (inside || status == 0) && strings.Contains(lower, "process timed out"):
		return AnswerGoesOn
	case inside && strings.Contains(lower, "no space left"):
		return AnswerFull
	case (inside || status == 0) && strings.Contains(text, "folder '") && strings.Contains(text, "' does not exist"):
		return AnswerNoDir
	case strings.Contains(lower, "permission denied"), strings.Contains(text, "permission_denied"):
		return AnswerDenied
	case strings.Contains(text, AccessCheck): // for the user that the call named
		return AnswerAccess
	case status == http.StatusUnauthorized:
		return AnswerKey
	}
	return ""
}

// AccessCheck ends what an SDK puts in place of the script by which it asks whether the user of a call may use a file.
const AccessCheck = "_access_check>"

// Sign writes an answer behind a text.
func (a SDKAnswer) Sign() string {
	if a == "" {
		return ""
	}
	return ", " + string(a)
}

// SignedAnswer is the answer that was written behind a text; empty: none was.
func SignedAnswer(text Safe) SDKAnswer {
	for _, a := range sdkAnswers {
		if strings.HasSuffix(text.String(), a.Sign()) {
			return a
		}
	}
	return ""
}

// Means says what an answer tells of the sandbox; empty: nothing is known of it.
func (a SDKAnswer) Means() Safe {
	switch a {
	case AnswerGone:
		return Text("the platform has no such sandbox")
	case AnswerWaking:
		return Text("the sandbox exists and did not answer yet, as one that only wakes")
	case AnswerGoesOn:
		return Text("only the wait for the command ended: the process goes on inside")
	case AnswerFull:
		return Text("the disk of the sandbox is full")
	case AnswerDenied:
		return Text("another user of the sandbox may not use it: what the SDK's API writes belongs to root")
	case AnswerAccess:
		return Text("it is not there, or another user of the sandbox may not use it: what the SDK's API writes belongs to root")
	case AnswerNoDir:
		return Text("the command could not begin: the directory that it should begin in is not there")
	case AnswerKey:
		return Text("the platform does not accept the agent's key: nothing is known of the sandbox")
	case AnswerUsage:
		return Text("the platform refuses every call in the workspace, whose usage limit is met: nothing is known of the sandbox")
	}
	return Safe{}
}
