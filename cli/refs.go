package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

func (p *Program) refsCommand(s *shared) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "refs",
		Short: "Look at the stored references to workspaces before a release changes",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(p.refsCheckCommand(s))
	return cmd
}

func (p *Program) refsCheckCommand(s *shared) *cobra.Command {
	var o oneShot
	var reads string
	var format *oneWord
	cmd := &cobra.Command{
		Use:   "check --reads LOW..HIGH",
		Short: "Say which sessions a release could not open, by the versions that it reads",
		Long: `Compare the schema version of every stored reference with the range that a
release reads, before you roll back or forward. Nothing is changed.

Exit codes: 0 every reference is in the range, 2 at least one session could
not be opened, 3 that is not known: no source of references is read whole, or
references carry no version, 64 wrong flags, 78 wrong configuration.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			low, high, err := versionRange(reads)
			if err != nil {
				return err
			}
			return p.reading(c.Context(), *s, o, func(r *reading) error {
				doc := newRollbackDoc(r.state, low, high)
				if err := print(p, format, doc, func(d *rollbackDoc) error { return p.write(d.text()) }); err != nil {
					return err
				}
				if doc.ExitCode != alerts.ExitOK {
					return exit(doc.ExitCode)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&reads, "reads", "", "the `VERSIONS` that the release reads: 2..4")
	format = p.output(cmd)
	o.flags(cmd)
	return cmd
}

// versionRange reads "2..4", or one version.
func versionRange(text string) (low, high int, err error) {
	first, last, ok := strings.Cut(text, "..")
	if !ok {
		last = first
	}
	low, errLow := strconv.Atoi(first)
	high, errHigh := strconv.Atoi(last)
	if errLow != nil || errHigh != nil || low < 0 || high < low {
		return 0, 0, usage("--reads needs the versions that the release reads, such as 2..4, and got %q", text)
	}
	return low, high, nil
}

// rollbackDoc is what `refs check` prints.
type rollbackDoc struct {
	Schema   int          `json:"schema"`
	ExitCode int          `json:"exit_code"`
	Missing  backend.Safe `json:"missing,omitzero"` // why not all references are known
	runbook.Rollback
	// Agents are the session states of agent SDKs, each compared with the inventory of its platform.
	Agents []agentMatch `json:"agents,omitempty"`
	// AgentVersions are the versions of the run states that those are in, sorted.
	AgentVersions []agentVersion `json:"agent_versions,omitempty"`
	// Invalid are saved states, or parts of them, that cannot be read.
	Invalid []backend.Problem `json:"invalid,omitempty"`
}

// agentMatch is a saved session state of an agent SDK and what the inventory says of its sandbox.
type agentMatch struct {
	Session backend.ID   `json:"session"`
	Sandbox backend.ID   `json:"sandbox,omitzero"`
	Origin  backend.Safe `json:"origin"`
	fleet.RefMatch
}

// agentVersion is one $schemaVersion of saved run states.
type agentVersion struct {
	Version backend.Safe `json:"version,omitzero"` // empty: they carry none
	States  int          `json:"states"`
	Known   bool         `json:"known"` // to Sandglass
}

func (v *agentVersion) text() backend.Safe {
	of := backend.Counted(v.States, "session state", "session states")
	switch {
	case v.Version.IsEmpty():
		return backend.Textf("%s without a $schemaVersion: no run state is around them", of)
	case v.Known:
		return backend.Textf("$schemaVersion %s: %s", v.Version, of)
	}
	return backend.Textf("$schemaVersion %s: %s, which Sandglass does not know: what it reads of them may be wrong", v.Version, of)
}

// agentVersions counts the session states of agent SDKs by the version of their run state.
func agentVersions(st *fleet.State) (out []agentVersion) {
	count := map[string]int{}
	for r := range st.Refs.All() {
		if r.Agent != nil {
			count[r.Agent.Version.String()]++
		}
	}
	for version, n := range count {
		out = append(out, agentVersion{backend.Clean(version, 100), n, backend.RunStateKnown(version)})
	}
	stable.Sort(out, func(a, b agentVersion) int { return strings.Compare(a.Version.String(), b.Version.String()) })
	return out
}

// agentMatches compares the session states of agent SDKs with the inventories.
func agentMatches(st *fleet.State) (out []agentMatch) {
	for r := range st.Refs.All() {
		if r.Agent != nil {
			out = append(out, agentMatch{r.Session, r.Sandbox, r.Origin, st.MatchOf(r)})
		}
	}
	return out
}

func newRollbackDoc(st *fleet.State, low, high int) *rollbackDoc {
	doc := &rollbackDoc{Schema: 1, Rollback: runbook.CheckRollback(st, low, high, nil), Missing: unreadRefs(st), Agents: agentMatches(st), AgentVersions: agentVersions(st)}
	for _, h := range st.Sources {
		doc.Invalid = append(doc.Invalid, st.InvalidRefs(h.Key.Source)...)
	}
	switch {
	case len(doc.Refused) > 0:
		doc.ExitCode = alerts.ExitCritical
	case !doc.Missing.IsEmpty(), len(doc.Invalid) > 0, doc.Unversioned > 0, doc.Unreadable > 0, doc.AgentStates > 0 && doc.Refs == 0,
		slices.ContainsFunc(doc.AgentVersions, func(v agentVersion) bool { return !v.Version.IsEmpty() && !v.Known }):
		doc.ExitCode = alerts.ExitUnknown
	}
	return doc
}

// unreadRefs says why not all stored references are known, empty when they are.
func unreadRefs(st *fleet.State) backend.Safe {
	read := false
	for _, h := range st.Sources {
		switch {
		case !h.Watches(backend.InputRefs):
		case h.Status != fleet.StatusOK:
			return backend.Textf("source %s is %s: %s", backend.Clean(h.Key.Source, 80), backend.Clean(string(h.Status), 20), h.Error)
		case h.Delivers(backend.InputRefs):
			read = true
		}
	}
	for x := range st.Sessions.All() {
		read = read || len(x.WorkspaceRefs) > 0
	}
	if !read {
		return backend.Text("no configured source reads stored references; add a source of kind refs, or workspaceRefs to the list route")
	}
	return backend.Safe{}
}

func (d *rollbackDoc) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	switch n := len(d.Refused); {
	case n > 0:
		line("A release that reads versions %d to %d could not open %s of %d.", d.Low, d.High, backend.Counted(n, "session", "sessions"), d.Sessions)
	case d.ExitCode != alerts.ExitOK:
		line("Cannot tell whether a release that reads versions %d to %d could open every session.", d.Low, d.High)
	default:
		line("A release that reads versions %d to %d could open every session whose version is known: %d of %d.", d.Low, d.High, d.Sessions, d.Sessions)
	}
	if d.Named > 0 {
		line("  %s read by no source: errors of workspaces that fail now name their versions", backend.Counted(d.Named, "reference is", "references are"))
	}
	if d.Silent > 0 {
		line("  not known: the versions of %s; no stored reference of theirs is read", backend.Counted(d.Silent, "other session", "other sessions"))
	}
	if !d.Missing.IsEmpty() {
		line("  not known: %s", d.Missing)
	}
	if n := len(d.Invalid); n > 0 {
		line("  not known: what is in %s", backend.Counted(n, "invalid part of the saved states", "invalid parts of the saved states"))
		for _, p := range d.Invalid[:min(n, 20)] {
			line("    %s: %s", p.Where, p.What)
		}
	}
	if d.Unversioned > 0 {
		line("  %s without a schemaVersion: a release before round 4 wrote them; what this release makes of them is not known", backend.Counted(d.Unversioned, "reference", "references"))
	}
	if d.Unreadable > 0 {
		line("  %s with a schemaVersion that is not a number", backend.Counted(d.Unreadable, "reference", "references"))
	}
	if d.AgentStates > 0 {
		line("  the range does not apply to %s of an agent SDK; pointers.schema_version can name another version", backend.Counted(d.AgentStates, "session state", "session states"))
	}
	for _, v := range d.AgentVersions {
		line("  %s", v.text())
	}
	if len(d.Agents) > 0 {
		line("\nSession states of agent SDKs, compared with the inventory")
	}
	for _, x := range d.Agents {
		line("  %-10s %s  %s  (%s)", x.Result, orDash(x.Session), orDash(x.Sandbox), x.Why)
		for _, all := range [][]fleet.RefDifference{x.Differences, x.Open} {
			for i := range all {
				line("      %s", all[i].Said())
			}
		}
	}
	if len(d.Versions) > 0 {
		line("\nVersions")
	}
	for _, v := range d.Versions {
		word := "read"
		if v.Version < d.Low || v.Version > d.High {
			word = "not read"
		}
		line("  version %-4d %6d  %s", v.Version, v.Refs, word)
	}
	if len(d.Refused) == 0 {
		return b.String()
	}
	line("\nSessions that could not be opened, by tenant")
	i := 0
	for _, t := range d.Tenants {
		name := t.Tenant.String()
		if t.Tenant.IsEmpty() {
			name = "? (no tenant is named)"
		}
		line("  %s: %s", name, backend.Counted(t.Sessions, "session", "sessions"))
		for range t.Sessions {
			x := &d.Refused[i]
			i++
			line("    %s  version %d  (%s)", x.Session.Safe(), x.Version, x.Source)
		}
	}
	return b.String()
}

func orDash(id backend.ID) backend.Safe {
	if id.IsZero() {
		return backend.Text("-")
	}
	return id.Safe()
}
