package cloudflare

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sandglass/backend"
)

// namespaces are the Durable Object namespaces of the account, by id in one spelling.
type namespaces struct {
	by   map[string]namespace
	next time.Time
	ok   time.Time // zero: never read
	err  *failure
}

// readApplications lists the applications, if they are due.
func (p *poll) readApplications() *failure {
	s := p.s
	if p.now.Before(s.appsNext) || s.behind && !s.appsAt.IsZero() && p.now.Sub(s.appsAt) < endedEvery {
		return s.appsErr // what is left over of the poll before comes first
	}
	s.appsNext = p.now.Add(sooner(s.opt.Inventory.Std()))
	w := &walk{}
	var all []application
	for {
		q := url.Values{"per_page": {strconv.Itoa(appsPage)}}
		if w.token != "" {
			q.Set("page_token", w.token)
		}
		if !s.budget.Wait(p.ctx) {
			s.appsNext = time.Time{}
			return nil
		}
		got, f := s.get(p.ctx, "/containers/applications", "/containers/applications", q)
		if f == nil && got.result.Kind() != '[' {
			f = &failure{status: http.StatusOK, err: backend.Errorf(backend.ErrInvalid, got.where, "the answer holds no list result; is %s the account API?", s.opt.URL)}
		}
		if f != nil && len(all) > 0 { // what came before is not lost
			_, _, what := s.explain(f, needContainers)
			p.takeApplications(all, fmt.Sprintf("page %d of it: %s", w.pages+1, what))
			return nil
		}
		if f != nil {
			s.appsErr = f
			return f
		}
		d, n, ids := s.decoder(), 0, []string(nil)
		w.bad += len(got.bad)
		for x := range got.result.Elements() {
			n++
			if a, ok := d.application(x); ok {
				all, ids = append(all, a), append(ids, a.key)
			} else if x.Kind() != '0' {
				w.bad++
			}
		}
		end, why := w.page(got, n, ids)
		if !end {
			continue
		}
		if w.bad > 0 {
			why = fmt.Sprintf("%s cannot be read; the others are shown", backend.Counted(w.bad, "application", "applications"))
		}
		p.takeApplications(all, why)
		return nil
	}
}

// takeApplications takes over what the list of applications says.
func (p *poll) takeApplications(all []application, why string) {
	s := p.s
	first := s.appsAt.IsZero()
	s.appsErr = nil
	s.appsAt, s.appsWhole, s.appsSaid, s.listed, s.appsOther = p.now, why == "", why, nil, 0
	for _, x := range all {
		if !s.wanted(&x) {
			s.appsOther++
			continue
		}
		if slices.Contains(s.listed, x.key) {
			continue
		}
		s.listed = append(s.listed, x.key)
		a := s.apps[x.key]
		if a == nil {
			a = &app{}
			s.apps[x.key] = a
			if !first {
				p.change("application", backend.Textf("the application %s was created", x.name))
			}
			p.sinceFormer(&x)
		} else {
			p.rollout(a, &x)
		}
		a.application = x
	}
	if why != "" { // what it leaves out may still be there
		s.listed = slices.AppendSeq(s.listed, func(yield func(string) bool) {
			for _, key := range slices.Sorted(maps.Keys(s.apps)) {
				if !slices.Contains(s.listed, key) && !yield(key) {
					return
				}
			}
		})
		return
	}
	for key, a := range s.apps {
		if slices.Contains(s.listed, key) {
			continue
		}
		p.change("application", backend.Textf("the application %s was deleted", a.name))
		for id, b := range s.boxes {
			if b.app == a {
				p.end(id)
			}
		}
		delete(s.apps, key)
	}
}

// without says that no application is seen, and why that may be; empty: one is, or the list was not read to its end.
func (s *Source) without() backend.Safe {
	switch {
	case s.appsAt.IsZero() || !s.appsWhole || s.appsErr != nil || len(s.listed) > 0:
		return backend.Safe{}
	case s.appsOther > 0:
		return backend.Textf("no container application is seen: none of %s of the account is named in applications", backend.Counted(s.appsOther, "application", "applications"))
	}
	if s.opt.AccountID == exampleAccount {
		return backend.Text("no container application is seen: account_id is still that of the example; write yours, or set " + envAccount)
	}
	return backend.Textf("no container application is seen in the account %s: it has none, %s names another account, or the token sees none of them (it needs %s)",
		backend.Clean(s.opt.AccountID, maxWord), backend.Clean(s.accountFrom, maxWord), backend.Text(needContainers))
}

// wanted reports whether the configuration names an application, or none.
func (s *Source) wanted(a *application) bool {
	return len(s.opt.Applications) == 0 || slices.ContainsFunc(s.opt.Applications, func(want string) bool {
		return want == a.rawName || sameID(want) == a.key
	})
}

// rollout tells what began, ended or changed between two lists: it explains containers that are replaced.
func (p *poll) rollout(was *app, now *application) {
	version := backend.Safe{}
	if was.version != now.version && was.version != "" && now.version != "" {
		version = backend.Textf(", version %s → %s", backend.Clean(was.version, maxWord), backend.Clean(now.version, maxWord))
	}
	switch {
	case was.rollout != now.rollout && now.rollout != "":
		p.change("rollout", backend.Textf("rollout %s of the application %s began%s: its containers are replaced", backend.Clean(now.rollout, 80), now.name, version))
	case was.rollout != now.rollout:
		p.change("rollout-over", backend.Textf("rollout %s of the application %s is over%s", backend.Clean(was.rollout, 80), now.name, version))
	case !version.IsEmpty():
		p.change("rollout", backend.Textf("the application %s was changed%s", now.name, version))
	case was.image != now.image && !was.image.IsEmpty() && !now.image.IsEmpty():
		p.change("rollout", backend.Textf("the application %s has another image: %s", now.name, now.image))
	}
}

func (p *poll) change(name string, text backend.Safe) {
	p.r.Events = append(p.r.Events, backend.Event{Kind: backend.EventChange, At: p.now, Source: p.s.deps.ID, Name: name, Text: text})
}

// readNamespaces lists the Durable Object namespaces, if they are due. Without them class and script are unknown.
func (s *Source) readNamespaces(ctx context.Context) {
	n := &s.namespaces
	now := s.deps.Now()
	if now.Before(n.next) {
		return
	}
	n.next = now.Add(spread(namespacesEvery))
	by, said := map[string]namespace{}, 0
	for page := 1; page <= maxPages; page++ {
		if !s.budget.Wait(ctx) {
			n.next = time.Time{}
			return
		}
		got, f := s.get(ctx, "/workers/durable_objects/namespaces", "/workers/durable_objects/namespaces",
			url.Values{"page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(namespacesPage)}})
		if f != nil {
			n.err = f
			if n.by == nil {
				n.by = by // what came before is not lost
			} else {
				maps.Copy(n.by, by)
			}
			return
		}
		d, rows, before := s.decoder(), 0, len(by)
		for x := range got.result.Elements() {
			rows++
			if key := id(x.Get("id")); !key.IsZero() {
				by[sameID(key.Raw())] = namespace{class: d.text(x.Get("class"), maxName), script: d.text(x.Get("script"), maxName)}
			}
		}
		info := got.root.Get("result_info")
		total, told := number(info.Get("total_count"))
		said = total
		if size, is := number(info.Get("per_page")); is && told { // a platform that gives smaller pages than it is asked for
			told = size > 0 && page*size < total
		} else {
			told = rows >= namespacesPage
		}
		if !told || len(by) == before { // the last one, or the same one again
			break
		}
	}
	if len(by) < said && n.by != nil { // what is missing may be among those of before
		maps.Copy(n.by, by)
		by = n.by
	}
	n.by, n.ok, n.err = by, now, nil
}
