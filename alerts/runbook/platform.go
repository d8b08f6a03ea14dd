package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// platform is where all of a subject runs. Checks, lines and knobs of another platform are left out.
type platform string

const (
	anywhere   platform = "" // on several, or unknown
	ownHosts   platform = "host"
	cloudflare platform = "cloudflare"
	cloud      platform = "cloud" // a platform of sandboxes whose hosts nobody reaches, with a hub that leads its sessions
	agentCloud platform = "blaxel"
	clouds     platform = "cloud, blaxel" // of a check only: both of these, on the second only where it is confirmed
)

// onlyOn are the checks that concern one platform. On the other they are asked only where an error confirms them.
func onlyOn() map[string]platform {
	return map[string]platform{
		"sqlite": cloudflare, "storage": cloudflare, "database": cloudflare, "snapshot": cloudflare, "binding": cloudflare, "quota": cloudflare, "sharing": cloudflare,
		"asleep": cloudflare, "namespace": cloudflare,
		"no-checkpoint": cloud, "jobs": cloud, "wake": cloud, "resume": cloud, "reaped": clouds,
		"runaway": agentCloud, "package": agentCloud, "interrupted": agentCloud, "terminals": agentCloud, "terminal-fails": agentCloud, "open": agentCloud, "token": agentCloud, "preview": agentCloud,
		"posix": ownHosts, "root": ownHosts, "engine": ownHosts, "boot": ownHosts,
	}
}

// platformOf is the platform of a provider; in-memory has none of its own.
func platformOf(provider string) platform {
	switch {
	case slices.Contains([]string{"docker", "local-bash", "local-sandbox"}, provider):
		return ownHosts
	case provider == "cloudflare" || strings.HasPrefix(provider, "cloudflare-"):
		return cloudflare
	case provider == "agentuity":
		return cloud
	case provider == "blaxel":
		return agentCloud
	}
	return anywhere
}

// platform finds the one platform of the subject's workspaces and sandboxes.
func (s *subjectView) platform() platform {
	found := anywhere
	for _, p := range s.platforms() {
		if p == anywhere || found != anywhere && p != found {
			return anywhere
		}
		found = p
	}
	return found
}

// elsewhere reports whether the subject is a sandbox on another platform than a provider's.
func (s *subjectView) elsewhere(provider string) bool {
	b := s.State.Sandbox(s.Subject)
	at := platformOf(provider)
	return b != nil && at != anywhere && platformOf(b.Provider.String()) != anywhere && platformOf(b.Provider.String()) != at
}

// platforms lists the platform of each workspace and sandbox of the subject, each once. A workspace without a provider is where
// its session's sandbox or runtime is.
func (s *subjectView) platforms() []platform {
	var out []platform
	add := func(p platform) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	bySession := map[backend.ID]platform{}
	for _, b := range s.sandboxes {
		p := platformOf(b.Provider.String())
		bySession[b.Session] = p
		add(p)
	}
	for _, w := range s.workspaces {
		p := w.Provider.String()
		if p == "" && !s.wide {
			p = s.savedProvider(w)
		}
		switch at := platformOf(p); {
		case at != anywhere:
			add(at)
		case p == "" && bySession[w.Key.Parent] != anywhere:
		case p == "" || p == "in-memory":
			add(s.runtimePlatform(w))
		default:
			add(anywhere)
		}
	}
	if len(s.workspaces) == 0 && s.session != nil && !slices.Equal(out, []platform{agentCloud}) {
		add(runtimePlatform(s.session))
	}
	return out
}

func (s *subjectView) runtimePlatform(w *backend.Workspace) platform {
	if x := s.State.SessionOf(w); x != nil {
		return runtimePlatform(x)
	}
	return anywhere
}

func runtimePlatform(x *backend.Session) platform {
	switch word := strings.ToLower(x.Runtime.String()); {
	case word == "js", word == "node":
		return ownHosts
	case strings.Contains(word, "durable"):
		return cloudflare
	case strings.HasPrefix(word, "agentuity"):
		return cloud
	}
	return anywhere
}

// fit leaves out what concerns another platform than the subject's. Where a check of the other one is confirmed, the
// provider's name does not tell where the subject runs.
func (s *subjectView) fit(d *Diagnosis) {
	only, at := onlyOn(), s.platform()
	other := func(c Check) bool {
		p := only[c.Name]
		return p != anywhere && p != at && (p != clouds || at != cloud && (at != agentCloud || c.Mark != Confirmed))
	}
	if at == anywhere || slices.ContainsFunc(d.Checks, func(c Check) bool { return other(c) && c.Mark == Confirmed }) {
		return
	}
	d.Checks = slices.DeleteFunc(d.Checks, other)
	d.platform = at
}

// otherRuntime is where an agent runs that its runtime refuses workspaces to.
func (s *subjectView) otherRuntime() backend.Literal {
	if s.platform() == ownHosts {
		return "Run the agent on the JS runtime, or take its workspaces out."
	}
	return "Run the agent on the JS runtime or in a Durable Object, or take its workspaces out."
}

// Platform names where all of the subject runs; empty where that is unknown or differs.
func (d *Diagnosis) Platform() string { return string(d.platform) }

// Fitting is the page without what concerns another platform than that of a diagnosis, with commands for its engine.
func (p *Page) Fitting(d *Diagnosis) *Page {
	if d == nil || d.platform == anywhere && d.client == "" || p.file == "" {
		return p
	}
	return embedded(p.file, d.platform, d.client)
}

// markOf is the mark at the end of an item, paragraph or heading that concerns one platform.
func markOf(at platform) string { return " <!-- " + string(at) + " -->" }

// textOn is the text of a page as it concerns a platform, without the marks.
func textOn(text string, at platform) string {
	for _, x := range []platform{ownHosts, cloudflare, cloud, agentCloud} {
		if at != anywhere && x != at {
			text = without(text, markOf(x))
		}
		text = strings.ReplaceAll(text, markOf(x), "")
		not := markOf("not " + x)
		if at == x {
			text = without(text, not)
		}
		text = strings.ReplaceAll(text, not, "")
	}
	return text
}

// without leaves out the blocks of a text that end in a mark: a list item, a paragraph, or a heading with its list.
func without(text, mark string) string {
	var out []string
	begin, skip := 0, false
	for l := range strings.SplitSeq(text, "\n") {
		heading := strings.HasPrefix(l, "#")
		switch {
		case heading:
			skip = strings.HasSuffix(l, mark)
		case skip:
			continue
		}
		if heading || l == "" || strings.HasPrefix(l, "- ") {
			begin = len(out)
		} else if len(out) > 0 && out[len(out)-1] == "" {
			begin = len(out)
		}
		if out = append(out, l); strings.HasSuffix(l, mark) {
			out = out[:begin]
		}
	}
	return strings.Join(out, "\n")
}
