package subjects

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// placeItem is one place that several sessions or workspaces use.
type placeItem struct {
	What           fleet.StorageKind `json:"what"`
	ID             backend.ID        `json:"id"`
	Source         string            `json:"source"`
	SessionCount   int               `json:"session_count"`
	Tenants        []backend.Safe    `json:"tenants"`
	TenantsUnknown bool              `json:"tenants_unknown"`
	Since          *views.Time       `json:"since,omitempty"`
	Flag           fleet.SharingFlag `json:"flag,omitempty"`
	ByDesign       bool              `json:"by_design"`
	Verdict        backend.Safe      `json:"verdict"`
	Why            []backend.Safe    `json:"why"`
	Users          []placeUser       `json:"users"`
	MoreUsers      bool              `json:"more_users"`
}

type placeUser struct {
	Session   backend.ID   `json:"session"`
	Workspace backend.ID   `json:"workspace,omitzero"`
	Tenant    backend.Safe `json:"tenant,omitzero"`
	Provider  backend.Safe `json:"provider,omitzero"`
	Started   views.Time   `json:"started_at"`
	From      string       `json:"from"`
}

func newPlaceItem(p *fleet.SharedStorage, ctx *views.Snapshot) *placeItem {
	item := &placeItem{What: p.What, ID: p.ID, Source: p.Home, SessionCount: p.Sessions(), Flag: p.Flag(), Users: []placeUser{},
		MoreUsers: len(p.Users) >= fleet.MaxStorageUsers, Why: views.List(WhyShared(p, ctx.State, ctx.Now))}
	item.ByDesign, item.Verdict = ByDesign(p, ctx.State)
	tenants, unknown := p.Tenants(ctx.State)
	item.Tenants, item.TenantsUnknown = views.List(tenants), unknown
	if since := BothSince(p, ctx.State); !since.IsNotApplicable() {
		began := views.At(since.Or(time.Time{}))
		item.Since = &began
	}
	for _, u := range p.Users {
		x := placeUser{Session: u.Session, Workspace: u.Workspace, From: u.Evidence.Key.Source}
		if s := p.SessionOf(ctx.State, u); s != nil {
			at, _ := s.StartedAt.Get()
			x.Tenant, x.Started = s.Tenant, views.At(at)
		}
		if u.Entity != nil {
			x.Provider = u.Entity.Provider
		}
		item.Users = append(item.Users, x)
	}
	return item
}
