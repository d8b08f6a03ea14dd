package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Origin says who refused.
type Origin string

// The origins of refusals. They have bodies of four shapes.
const (
	OriginUnknown  Origin = ""
	OriginPlatform Origin = "platform" // the control plane: {code: number, error}
	OriginCreate   Origin = "create"   // the control plane when it makes a sandbox: {code: text, message, step}
	OriginGateway  Origin = "gateway"  // what stands before a sandbox: {error: {code, message, retryable}}
	OriginInside   Origin = "sandbox"  // the server inside the sandbox: {error: text}
	OriginRouter   Origin = "no route" // that server has no such route: plain text
	OriginEdge     Origin = "edge"     // a web page of the network before all of them
)

// The gateway's codes that say more than the status.
const (
	CodeUnavailable = "WORKLOAD_UNAVAILABLE" // it exists, and cannot answer yet
	CodeNotFound    = "WORKLOAD_NOT_FOUND"
	CodeNoWorkspace = "WORKSPACE_NOT_FOUND"
	CodeNoRoute     = "ROUTE_NOT_FOUND"
	CodePolicy      = "POLICY_VIOLATION"
)

// Refusal is an answer that is no success.
type Refusal struct {
	Status  int
	Origin  Origin
	Code    string
	Message string
	Step    string // at which a sandbox could not be made
	// Took is how long the answer took; zero: not measured.
	Took time.Duration
	// Retryable says that the platform itself calls it worth another try.
	Retryable bool
}

// UsedUp reports whether what stands before a sandbox refused the call since the usage limit of its workspace is met: it refuses every other
// call there too.
func (r *Refusal) UsedUp() bool {
	return r.Code == backend.CodeUsage || r.Status == http.StatusPaymentRequired && r.Origin != OriginInside
}

// edgeWait is near how long the network before a sandbox waits for an answer, which is about 60 s.
const edgeWait = 50 * time.Second

const maxMessage = 2000

// ReadRefusal reads an answer of any of the shapes.
func ReadRefusal(status int, h http.Header, body []byte) Refusal {
	r := Refusal{Status: status, Code: h.Get("X-Blaxel-Error-Code")}
	if h.Get("X-Blaxel-Source") == "platform" {
		r.Origin = OriginGateway
	}
	doc, err := wire.Parse(body)
	if err != nil || doc.Root().Kind() != '{' {
		r.plain(h, body)
		r.Retryable = r.Code == CodeUnavailable
		return r
	}
	root := doc.Root()
	text := func(n wire.Node) string { t, _ := n.Text(); return cut(t) }
	switch e := root.Get("error"); {
	case e.Kind() == '{':
		r.Origin, r.Message = OriginGateway, text(e.Get("message"))
		if code := text(e.Get("code")); code != "" {
			r.Code = code
		}
		r.Retryable, _ = e.Get("retryable").Bool()
	case root.Get("code").Kind() == '"':
		r.Origin, r.Code, r.Message, r.Step = OriginCreate, text(root.Get("code")), text(root.Get("message")), text(root.Get("step"))
	case root.Get("code").Kind() == '0':
		r.Origin, r.Message = OriginPlatform, text(e)
		if more := text(root.Get("message")); more != "" && more != r.Message {
			r.Message = strings.TrimSpace(r.Message + ": " + more)
		}
	case e.Kind() == '"':
		r.Message = text(e)
		if r.Origin == OriginUnknown {
			r.Origin = OriginInside
		}
	default:
		r.Message = text(root.Get("message"))
	}
	r.Retryable = r.Retryable || r.Code == CodeUnavailable
	return r
}

// plain reads what is no JSON object.
func (r *Refusal) plain(h http.Header, body []byte) {
	said := strings.TrimSpace(string(body))
	switch kind := h.Get("Content-Type"); {
	case strings.Contains(kind, "html") || strings.HasPrefix(said, "<"):
		r.Message = "a web page"
		if r.Origin == OriginUnknown {
			r.Origin = OriginEdge
		}
	case strings.HasPrefix(said, "404 page not found"):
		r.Origin, r.Message = OriginRouter, said
	default:
		r.Message = cut(said)
	}
}

func cut(s string) string { return s[:min(len(s), maxMessage)] }

// Gone reports whether the answer says that the sandbox does not exist. A 404 alone does not: one comes while a sandbox wakes,
// and one from inside it is about a file or process.
func (r *Refusal) Gone() bool {
	if r.Status != http.StatusNotFound {
		return false
	}
	switch r.Origin {
	case OriginPlatform:
		return true
	case OriginGateway:
		return r.Code == CodeNotFound
	case OriginUnknown, OriginCreate, OriginInside, OriginRouter, OriginEdge:
	}
	return false
}

// Waking reports whether the sandbox exists and did not answer yet.
func (r *Refusal) Waking() bool { return r.Retryable && r.Status == http.StatusNotFound }

// Heard reports whether the server inside the sandbox gave the answer, so that the sandbox was awake. It refuses no key and no wait
// in the words of a gateway: those come from what stands before it.
func (r *Refusal) Heard() bool {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return r.Origin == OriginInside || r.Origin == OriginRouter
}

// Text is the refusal in words, for an error.
func (r *Refusal) Text() string {
	out := "answered " + strconv.Itoa(r.Status)
	if name := http.StatusText(r.Status); name != "" {
		out += " " + name
	}
	if r.Message != "" {
		out += ": " + r.Message
	}
	switch {
	case r.Code != "" && r.Step != "":
		out += " (" + r.Code + " at the step " + r.Step + ")"
	case r.Code != "":
		out += " (" + r.Code + ")"
	}
	return out
}
