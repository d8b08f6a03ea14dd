package backend

import (
	"strings"
	"time"
)

// Preview is an address on the internet at which a port of a sandbox answers.
type Preview struct {
	Name   Safe        `json:"name"`
	Status Safe        `json:"status,omitzero"` // the platform's own word
	Port   Value[int]  `json:"port"`
	Public Value[bool] `json:"public"`
	// URL is its address without a query: a token in one is a credential.
	URL     Safe             `json:"url,omitzero"`
	Expires Value[time.Time] `json:"expires,omitzero"` // not applicable: it has no end
	TTL     Safe             `json:"ttl,omitzero"`     // how long it lives from its making, as the platform writes it; empty: not told
	// CreatedAt is when it was made; ChangedAt when it was last changed since, zero: not, or not told.
	CreatedAt Value[time.Time] `json:"created_at,omitzero"`
	ChangedAt time.Time        `json:"changed_at,omitzero"`
	// Control says that it leads to the sandbox's own API: files, commands and terminals.
	Control bool `json:"control,omitempty"`
	// Tokens are what opens a private one, never their values; TokensAt is when they were read, zero: never.
	Tokens   []PreviewToken `json:"tokens,omitempty"`
	TokensAt time.Time      `json:"tokens_at,omitzero"`
}

// Lives says how long an address lives, with its end as until writes it; empty: nothing is known of it.
func (p *Preview) Lives(until func(time.Time) string) Safe {
	end, known := p.Expires.Get()
	switch {
	case known && !p.TTL.IsEmpty():
		return Textf("ttl %s, %s", p.TTL, Clean(until(end), 80))
	case known:
		return Clean(until(end), 80)
	case !p.TTL.IsEmpty():
		return Textf("ttl %s from its making: when it ends is not known", p.TTL)
	case p.Expires.IsNotApplicable():
		return Text("without an end")
	}
	return Safe{}
}

// Unmade reports whether there is no address that could open: its platform says that it failed, and gives none.
func (p *Preview) Unmade() bool { return p.Status.String() == "FAILED" && p.URL.IsEmpty() }

// PreviewToken is a credential for a private preview, without its value.
type PreviewToken struct {
	Name    Safe             `json:"name"`
	Expires Value[time.Time] `json:"expires,omitzero"` // not applicable: it has no end
	Expired Value[bool]      `json:"expired"`
}

// PreviewFailures are why an agent's SDK could not make the address of a port, as the member detail of its errors says.
func PreviewFailures() []string {
	return []string{"preview_creation_failed", "invalid_preview_url", "preview_token_creation_failed", "url_parse_failed"}
}

// PreviewFailedBy counts those that name one of PreviewFailures.
func PreviewFailedBy(detail string) Metric { return MetricPreviewFailed + Metric(":"+detail) }

// PreviewFailureMeans says what a text tells that names one of PreviewFailures; empty where it names none.
func PreviewFailureMeans(text string) Safe {
	means := [...]Literal{"the platform did not make the address", "the platform's answer had no address of use",
		"no token was made: look at the rights of the agent's key", "the address that the platform gave cannot be read"}
	for i, detail := range PreviewFailures() {
		if strings.Contains(text, detail) {
			return Text(means[i])
		}
	}
	return Safe{}
}

// Snapshot is a saved copy of a sandbox, from which another one can be made.
type Snapshot struct {
	ID        ID               `json:"id"`
	Name      Safe             `json:"name"`
	Status    Safe             `json:"status,omitzero"` // the platform's own word
	CreatedAt Value[time.Time] `json:"created_at"`
}
