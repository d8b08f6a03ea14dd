package backend

import (
	"net/url"
	"strings"
	"time"
)

// KindRef is the kind of a Ref.
const KindRef Kind = "ref"

var refKind = SubjectKind{
	Kind: KindRef, Name: "reference", Plural: "references", List: "refs", Short: "ref", Input: InputRefs,
	Parents: []Kind{KindSession}, PathHasParent: true, Copy: copyOf[Ref],
}

// Ref is what a framework saved in order to find a workspace again: a persisted workspaceRef, or the session state of an
// agent SDK. Its key's Parent is the session and its ID the workspace name ("workspace" when it has none). A Ref outlives
// its session: it is gone when the place that held it no longer names it.
type Ref struct {
	Meta
	Session ID `json:"session,omitzero"`
	// Workspace is the name of the workspace, zero when the session has only one and it has no name.
	Workspace ID `json:"workspace,omitzero"`
	// Provider is the word for who made the workspace (providerId, type).
	Provider Safe `json:"provider,omitzero"`
	// Sandbox is the raw id of the machine behind the ref, zero when nothing says where in the ref to find it.
	Sandbox   ID `json:"sandbox,omitzero"`
	Namespace ID `json:"namespace,omitzero"`
	// SchemaVersion is not applicable when the ref carries none, unknown when it carries something other than a number.
	SchemaVersion Value[int] `json:"schema_version,omitzero"`
	Capabilities  []Safe     `json:"capabilities,omitempty"` // sorted
	// Status is the saved status of the session, empty when none is saved.
	Status Safe `json:"status,omitzero"`
	// SavedAt is when it was saved: what the document says, else the time of its file; unknown for a command's output.
	SavedAt Value[time.Time] `json:"saved_at"`
	// Opaque is the drawable form of the provider's own part, masked and cut.
	Opaque Safe `json:"opaque,omitzero"`
	// Origin is the file or command, and the place in it.
	Origin Safe `json:"origin,omitzero"`
	// Agent is what the state of an agent SDK says, nil for refs of other frameworks.
	Agent *AgentState `json:"agent,omitempty"`
	Extra []Field     `json:"extra,omitempty"`

	// RawOpaque is the provider's own part exactly as it was saved, for comparing refs with each other. It may hold
	// credentials, so it is never drawn and in no document. Zero when it is empty or longer than MaxIDBytes.
	RawOpaque ID `json:"-"`
}

// StatusWord returns the saved status.
func (r *Ref) StatusWord() Safe { return r.Status }

// Organisation is the one of its platform that the address in a saved state names, which is of the form
// https://sbx-NAME-ORGANISATION.REGION.DOMAIN; empty: it names none.
func (r *Ref) Organisation() string {
	if r.Agent == nil || r.Sandbox.IsZero() {
		return ""
	}
	u, err := url.Parse(r.Agent.Address.String())
	if err != nil {
		return ""
	}
	label, domain, _ := strings.Cut(u.Hostname(), ".")
	prefix := "sbx-" + r.Sandbox.Raw() + "-"
	if len(label) <= len(prefix) || !strings.EqualFold(label[:len(prefix)], prefix) || !strings.Contains(domain, ".") {
		return ""
	}
	return label[len(prefix):]
}
