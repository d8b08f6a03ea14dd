package agentuity

import (
	"encoding/json"
	"time"
)

// envelope is the form of every answer about sandboxes.
type envelope[T any] struct {
	Success bool `json:"success"`
	Data    T    `json:"data"`
}

type wireRefusal struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
}

// refusal is an answer that says no. Bare and text are the other envelopes that
// clients have met: one with the message under another key, one that is no JSON.
type refusal struct {
	status        int
	message, code string
	envelope      int
	region        string // where the sandbox is, of a 421
}

const (
	envelopeMessage = iota
	envelopeError
	envelopeText
	envelopes
)

type wireNamed struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Tags []string `json:"tags,omitempty"`
}

type wireTimeout struct {
	Idle      string `json:"idle"`
	Execution string `json:"execution"`
	Paused    string `json:"paused"`
}

type wireSandbox struct {
	SandboxID      string      `json:"sandboxId"`
	Identifier     string      `json:"identifier"`
	Name           string      `json:"name,omitempty"`
	Status         string      `json:"status"`
	Mode           string      `json:"mode"`
	CreatedAt      string      `json:"createdAt"`
	Region         string      `json:"region"`
	Runtime        wireNamed   `json:"runtime"`
	Executions     int         `json:"executions"`
	StdoutURL      string      `json:"stdoutStreamUrl"`
	StderrURL      string      `json:"stderrStreamUrl"`
	AuditID        string      `json:"auditStreamId"`
	AuditURL       string      `json:"auditStreamUrl"`
	NetworkEnabled bool        `json:"networkEnabled"`
	Org            *wireNamed  `json:"org"`
	Timeout        wireTimeout `json:"timeout"`
	NetworkPort    int         `json:"networkPort,omitempty"`
	URL            string      `json:"url,omitempty"`
	*wireDetails
}

// wireDetails is what only the record of one sandbox has.
type wireDetails struct {
	Resources map[string]string `json:"resources"`
	User      map[string]string `json:"user"`
	Project   wireNamed         `json:"project"`
	Metadata  map[string]any    `json:"metadata,omitempty"`
}

type wireStatus struct {
	SandboxID string `json:"sandboxId"`
	Status    string `json:"status"`
}

type wireRun struct {
	ExecutionID string   `json:"executionId"`
	SandboxID   string   `json:"sandboxId"`
	Type        string   `json:"type"`
	Status      string   `json:"status"`
	Command     []string `json:"command,omitempty"`
	ExitCode    *int     `json:"exitCode,omitempty"`
	DurationMs  *int64   `json:"durationMs,omitempty"`
	StartedAt   string   `json:"startedAt,omitempty"`
	CompletedAt string   `json:"completedAt,omitempty"`
	Error       string   `json:"error,omitempty"`
	StdoutURL   string   `json:"stdoutStreamUrl,omitempty"`
	StderrURL   string   `json:"stderrStreamUrl,omitempty"`
}

type wireJob struct {
	JobID       string   `json:"jobId"`
	SandboxID   string   `json:"sandboxId"`
	Command     []string `json:"command"`
	Status      string   `json:"status"`
	ExitCode    *int     `json:"exitCode,omitempty"`
	StartedAt   *string  `json:"startedAt,omitempty"`
	CompletedAt *string  `json:"completedAt,omitempty"`
	Error       *string  `json:"error,omitempty"`
	StdoutURL   *string  `json:"stdoutStreamUrl,omitempty"`
	StderrURL   *string  `json:"stderrStreamUrl,omitempty"`
}

// wireJobNulls is the same with null for what is not known yet.
type wireJobNulls struct {
	JobID       string   `json:"jobId"`
	SandboxID   string   `json:"sandboxId"`
	Command     []string `json:"command"`
	Status      string   `json:"status"`
	ExitCode    *int     `json:"exitCode"`
	StartedAt   *string  `json:"startedAt"`
	CompletedAt *string  `json:"completedAt"`
	Error       *string  `json:"error"`
	StdoutURL   *string  `json:"stdoutStreamUrl"`
	StderrURL   *string  `json:"stderrStreamUrl"`
}

type wireEvent struct {
	EventID   string         `json:"eventId"`
	SandboxID string         `json:"sandboxId"`
	Type      string         `json:"type"`
	Event     map[string]any `json:"event"`
	CreatedAt string         `json:"createdAt"`
}

type wireFile struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	IsDir      bool   `json:"isDir"`
	IsSymlink  bool   `json:"isSymlink,omitempty"`
	LinkTarget string `json:"linkTarget,omitempty"`
	Mode       string `json:"mode"`
	ModTime    string `json:"modTime"`
}

type wireCheckpoint struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"createdAt"`
	Parent    string `json:"parent"`
}

type wireSnapshot struct {
	SnapshotID string  `json:"snapshotId"`
	RuntimeID  string  `json:"runtimeId"`
	Name       string  `json:"name"`
	Tag        *string `json:"tag"`
	SizeBytes  int64   `json:"sizeBytes"`
	FileCount  int     `json:"fileCount"`
	Public     bool    `json:"public"`
	CreatedAt  string  `json:"createdAt"`
}

// wireThin is a row of the routes of the command line.
type wireThin struct {
	ID          string  `json:"id"`
	Name        *string `json:"name"`
	Description *string `json:"description"`
	Status      string  `json:"status"`
	Region      string  `json:"region"`
	CreatedAt   string  `json:"createdAt"`
	OrgID       string  `json:"orgId"`
	OrgName     string  `json:"orgName"`
	ProjectID   string  `json:"projectId"`
}

type wireResolved struct {
	ID        string  `json:"id"`
	Name      *string `json:"name"`
	Region    string  `json:"region"`
	Status    string  `json:"status"`
	OrgID     string  `json:"orgId"`
	ProjectID string  `json:"projectId"`
}

type wireSession struct {
	SessionID        string   `json:"sessionId"`
	Label            string   `json:"label"`
	Status           string   `json:"status"`
	Mode             string   `json:"mode"`
	Visibility       string   `json:"visibility"`
	WorkflowMode     string   `json:"workflowMode"`
	CreatedAt        string   `json:"createdAt"`
	LastActivityAt   string   `json:"lastActivityAt"`
	TaskCount        int      `json:"taskCount"`
	SubAgentCount    int      `json:"subAgentCount"`
	ObserverCount    int      `json:"observerCount"`
	ParticipantCount int      `json:"participantCount"`
	Tags             []string `json:"tags"`
	Skills           []string `json:"skills"`
	EnabledAgents    []string `json:"enabledAgents"`
	Bucket           string   `json:"bucket"`
	RuntimeAvailable bool     `json:"runtimeAvailable"`
	ControlAvailable bool     `json:"controlAvailable"`
	WakeAvailable    bool     `json:"wakeAvailable"`
	HistoryOnly      bool     `json:"historyOnly"`
	LiveExpected     bool     `json:"liveExpected"`
	Error            string   `json:"error,omitempty"` // only in the record of one session
}

// wireJoin tells the sandbox of a session.
type wireJoin struct {
	SessionID   string `json:"sessionId"`
	SandboxID   string `json:"sandboxId"`
	Status      string `json:"status"`
	WsConnected bool   `json:"wsConnected"`
}

type wireParticipant struct {
	ID             string `json:"id"`
	Role           string `json:"role"`
	Transport      string `json:"transport"`
	ConnectedAt    string `json:"connectedAt"`
	LastActivityAt string `json:"lastActivityAt"`
}

// zoned writes a time as the platform does: whole seconds, UTC. The zero time is empty.
func zoned(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// optional is nil for what is empty.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// quoteJSON writes a string as JSON.
func quoteJSON(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(out)
}
