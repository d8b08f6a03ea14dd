package helix

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"sandglass/backend"
)

// declaration is a [[declare]] table with its globs made ready: a star crosses slashes.
type declaration struct {
	session, workspace glob
	backend.Declaration
}

type glob string

const slash = "\x1f" // stands for "/" on both sides, so that path.Match does not treat it specially

func newGlob(pattern string) (glob, error) {
	if pattern == "" {
		pattern = "*"
	}
	g := glob(strings.ReplaceAll(pattern, "/", slash))
	if _, err := path.Match(string(g), ""); err != nil {
		return "", fmt.Errorf("declare: %q is not a glob: %w", pattern, err)
	}
	return g, nil
}

func (g glob) matches(raw string) bool {
	if g == "*" {
		return true
	}
	ok, _ := path.Match(string(g), strings.ReplaceAll(raw, "/", slash)) // the pattern was checked
	return ok
}

func newDeclarations(in []backend.Declaration) ([]declaration, error) {
	out := make([]declaration, 0, len(in))
	for _, d := range in {
		session, err := newGlob(d.Session)
		if err != nil {
			return nil, err
		}
		workspace, err := newGlob(d.Workspace)
		if err != nil {
			return nil, err
		}
		out = append(out, declaration{session: session, workspace: workspace, Declaration: d})
	}
	return out, nil
}

// declareWorkspace fills in what no route reports. Of two declarations the first wins.
func (d *decoder) declareWorkspace(w *backend.Workspace) {
	for i := range d.declare {
		x := &d.declare[i]
		if !x.session.matches(w.Key.Parent.Raw()) || !x.workspace.matches(w.Key.ID.Raw()) {
			continue
		}
		f, have := &x.WorkspaceFacts, &w.WorkspaceFacts
		have.Provider = cmp.Or(have.Provider, f.Provider)
		have.ProviderID = cmp.Or(have.ProviderID, f.ProviderID)
		have.Namespace = cmp.Or(have.Namespace, f.Namespace)
		fill(&have.ShareAcrossSessions, f.ShareAcrossSessions)
		fill(&have.InheritWorkspaces, f.InheritWorkspaces)
		fill(&have.DestroyOnClose, f.DestroyOnClose)
		fill(&have.SleepAfter, f.SleepAfter)
		fill(&have.CloseTimeout, f.CloseTimeout)
		fill(&have.Concurrency, f.Concurrency)
		fill(&have.MaxFileSize, f.MaxFileSize)
		fill(&have.RetryAttempts, f.RetryAttempts)
		fill(&have.ResetAfter, f.ResetAfter)
	}
}

// declareSession does the same for a session.
func (d *decoder) declareSession(id backend.ID, have *backend.SessionFacts) {
	for i := range d.declare {
		x := &d.declare[i]
		if !x.session.matches(id.Raw()) {
			continue
		}
		f := &x.SessionFacts
		have.BranchedFrom = cmp.Or(have.BranchedFrom, f.BranchedFrom)
		have.Tenant = cmp.Or(have.Tenant, f.Tenant)
		have.Runtime = cmp.Or(have.Runtime, f.Runtime)
		have.FrameworkVersion = cmp.Or(have.FrameworkVersion, f.FrameworkVersion)
		have.SDKVersion = cmp.Or(have.SDKVersion, f.SDKVersion)
		if len(have.WorkspaceRefs) == 0 {
			have.WorkspaceRefs = f.WorkspaceRefs
		}
		fill(&have.StartedAt, f.StartedAt)
		if c := closingOf(x); c != nil {
			have.Closing = append(have.Closing, *c)
		}
	}
}

// closingOf is what a declaration says of how workspaces end, nil when it says nothing.
func closingOf(x *declaration) *backend.WorkspaceClosing {
	f := &x.WorkspaceFacts
	if !f.DestroyOnClose.IsKnown() && !f.ShareAcrossSessions.IsKnown() && !f.SleepAfter.IsKnown() && !f.CloseTimeout.IsKnown() {
		return nil
	}
	return &backend.WorkspaceClosing{Workspace: cmp.Or(x.Workspace, "*"), DestroyOnClose: f.DestroyOnClose, ShareAcrossSessions: f.ShareAcrossSessions,
		SleepAfter: f.SleepAfter, CloseTimeout: f.CloseTimeout}
}

func fill[T any](have *backend.Value[T], declared backend.Value[T]) {
	if !have.IsKnown() && declared.IsKnown() {
		*have = declared
	}
}
