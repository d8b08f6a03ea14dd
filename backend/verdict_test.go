package backend_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// someVerdicts are few planes and few moments, so that many meet.
func someVerdicts(t *testing.T, r *rand.Rand) []backend.Verdict {
	out := make([]backend.Verdict, r.IntN(9))
	for i := range out {
		v := &out[i]
		backendtest.Fill(t, r, v)
		v.At = time.Unix(1_770_000_000+r.Int64N(4), 0).UTC()
		if v.LastOK = (time.Time{}); r.IntN(2) == 0 {
			v.LastOK = v.At.Add(-time.Duration(r.IntN(4)) * time.Second)
		}
		v.Kind = append(backend.FailureKinds(), "")[r.IntN(15)]
		v.Took = time.Duration(r.IntN(3))
		if r.IntN(3) == 0 {
			v.What, v.Evidence = backend.Safe{}, nil
		}
		for _, past := range []*time.Time{&v.LastFailed, &v.Repaired, &v.Unrepaired} { // never later than what tells it
			if past.After(v.At) {
				*past = v.At
			}
		}
		if v.Destroyed = (time.Time{}); r.IntN(6) == 0 {
			*v = backend.DestroyedVerdict(v.At, backend.Text("destroyed by eve"))
		}
	}
	return out
}

// Equal sets of verdicts give equal observations, in whatever order and portions they come. What works is what was found to work.
func TestVerdictsMergeInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 11))
	for range 3000 {
		all := someVerdicts(t, r)
		whole := backend.MergeVerdicts(all)
		mixed := slices.Clone(all)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		n := r.IntN(len(mixed) + 1)
		parts := backend.MergeVerdicts(backend.MergeVerdicts(mixed[n:]), backend.MergeVerdicts(mixed[:n]), mixed)
		if !reflect.DeepEqual(whole, parts) {
			t.Fatalf("%+v\nis in another order\n%+v\nof %+v", whole, parts, all)
		}
		for i, v := range whole {
			if i > 0 && slices.Index(backend.Planes(), v.Plane) <= slices.Index(backend.Planes(), whole[i-1].Plane) {
				t.Fatalf("%s is out of order", v.Plane)
			}
			found := slices.ContainsFunc(all, func(x backend.Verdict) bool {
				return x.Plane == v.Plane && x.Outcome == v.Outcome && x.Kind == v.Kind && x.At.Equal(v.At)
			})
			worse := slices.ContainsFunc(all, func(x backend.Verdict) bool {
				return x.Plane == v.Plane && x.At.Equal(v.At) && x.Outcome == backend.OutcomeFailed
			})
			newer := slices.ContainsFunc(all, func(x backend.Verdict) bool { return x.Plane == v.Plane && x.Tried() && x.At.After(v.At) })
			if !found || newer || v.Outcome == backend.OutcomeOK && worse || len(v.Evidence) > backend.MaxEvidence {
				t.Fatalf("invented: %+v\nof %+v", v, all)
			}
			last := slices.ContainsFunc(all, func(x backend.Verdict) bool {
				return x.Plane == v.Plane && (x.LastOK.Equal(v.LastOK) || x.Outcome == backend.OutcomeOK && x.At.Equal(v.LastOK))
			})
			if !last && (v.Destroyed.IsZero() || !v.LastOK.IsZero()) {
				t.Fatalf("no success was at %s: %+v", v.LastOK, all)
			}
		}
		o := backend.Observation{Verdicts: whole}
		proves := []backend.Plane{backend.PlaneExec, backend.PlaneList, backend.PlaneRead} // the others tell nothing of what is in it
		if o.Works() != (slices.ContainsFunc(whole, func(v backend.Verdict) bool {
			return v.Outcome == backend.OutcomeOK && slices.Contains(proves, v.Plane)
		}) &&
			!slices.ContainsFunc(whole, func(v backend.Verdict) bool { return v.Tried() && v.Outcome != backend.OutcomeOK })) {
			t.Fatalf("works: %+v", whole)
		}
		for _, x := range []any{o, backend.Proof{Sandbox: backend.Key{Kind: backend.KindSandbox, Source: "s", ID: backend.MustID("b")}, Verdicts: whole}} {
			raw, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			again := reflect.New(reflect.TypeOf(x))
			if err := json.Unmarshal(raw, again.Interface()); err != nil || !reflect.DeepEqual(again.Elem().Interface(), x) {
				t.Fatalf("%s\nis read as %+v, want\n%+v: %v", raw, again.Elem(), x, err)
			}
		}
	}
}

// A plane that was not tried replaces nothing, an unknown one hides no success, and of one moment the worse counts.
func TestTheNewestVerdictOfAPlaneCounts(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(1_770_000_000+int64(s), 0).UTC() }
	v := func(p backend.Plane, o backend.Outcome, s int) backend.Verdict {
		return backend.Verdict{Plane: p, Outcome: o, At: at(s)}
	}
	for _, c := range []struct {
		all  []backend.Verdict
		want string
	}{
		{[]backend.Verdict{v("exec", "ok", 1), v("exec", "not-tried", 9)}, "exec ok 1 last 1"},
		{[]backend.Verdict{v("exec", "ok", 1), v("exec", "failed", 2)}, "exec failed 2 last 1"},
		{[]backend.Verdict{v("exec", "failed", 2), v("exec", "ok", 3)}, "exec ok 3 last 3"},
		{[]backend.Verdict{v("exec", "ok", 1), v("exec", "unknown", 2)}, "exec unknown 2 last 1"},
		{[]backend.Verdict{v("exec", "ok", 2), v("exec", "failed", 2)}, "exec failed 2 last 2"},
		{[]backend.Verdict{v("exec", "failed", 2)}, "exec failed 2 last never"},
		{[]backend.Verdict{v("fs-list", "ok", 5), v("exec", "failed", 2)}, "exec failed 2 last never, fs-list ok 5 last 5"},
		{[]backend.Verdict{v("exec", "splendid", 2)}, "exec unknown 2 last never"},
		{[]backend.Verdict{v("telepathy", "ok", 2)}, ""},
	} {
		var got []string
		for _, v := range backend.MergeVerdicts(c.all) {
			last := "never"
			if !v.LastOK.IsZero() {
				last = fmt.Sprint(v.LastOK.Unix() - 1_770_000_000)
			}
			got = append(got, fmt.Sprintf("%s %s %d last %s", string(v.Plane), v.Outcome, v.At.Unix()-1_770_000_000, last))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

// What versions before kept is read: one result, of a command that was run.
func TestTheFormOfVersionsBeforeIsRead(t *testing.T) {
	var b backend.Sandbox
	if err := json.Unmarshal([]byte(`{"observed":{"works":false,"what":"commands do not run","at":"2026-11-22T10:00:00Z","past":true}}`), &b); err != nil {
		t.Fatal(err)
	}
	o, ok := b.Observed.Get()
	if v, is := o.Of(backend.PlaneExec); !ok || !is || v.Outcome != backend.OutcomeFailed || v.What.String() != "commands do not run" || !o.Past() || len(o.Verdicts) != 1 {
		t.Errorf("%+v", b.Observed)
	}
	var p backend.Proof
	if err := json.Unmarshal([]byte(`{"Sandbox":{"kind":"sandbox","source":"docker","id":"b1"},"works":true,"what":"commands run","at":"2026-11-22T10:00:00Z"}`), &p); err != nil {
		t.Fatal(err)
	}
	if p.Sandbox.ID.Raw() != "b1" || len(p.Verdicts) != 1 || p.Verdicts[0].Outcome != backend.OutcomeOK || p.Verdicts[0].What.String() != "commands run" {
		t.Errorf("%+v", p)
	}
}

// What passed is no health beside a failing health check, nor while a plane that failed before a restart was not tried since.
func TestAnObservationIsNotHealthyBesideAFailure(t *testing.T) {
	now := time.Unix(1_770_000_000, 0)
	b := &backend.Sandbox{StartedAt: backend.Known(now), Health: backend.Known(backend.Text("unhealthy"))}
	seen := func() backend.Observation {
		o, _ := b.WithObserved([]backend.Verdict{
			{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now.Add(-time.Minute)},
			{Plane: backend.PlaneDriver, Outcome: backend.OutcomeOK, What: backend.Text("the main process is not frozen"), At: now.Add(time.Minute), Passive: true},
		}).Observed.Get()
		return o.Present()
	}
	if o := seen(); o.What().String() != "exec failed before, not tried since" || o.Works() || o.Outcome() != backend.OutcomeUnknown {
		t.Errorf("%s: %s", o.Outcome(), o.What())
	}
	b.StartedAt = backend.Known(now.Add(-time.Hour))
	if o := seen(); o.Outcome() != backend.OutcomeFailed {
		t.Errorf("%s: %s", o.Outcome(), o.What())
	}
	o, _ := b.WithObserved([]backend.Verdict{{Plane: backend.PlaneDriver, Outcome: backend.OutcomeOK, What: backend.Text("the main process is not frozen"), At: now}}).Observed.Get()
	if o.What().String() != "the main process is not frozen; not tried: control, exec, filesystem" {
		t.Errorf("%s", o.What())
	}
}

// Healthy is what passed in everything that was tried; the planes that were not tried are named.
func TestAnObservationSaysWhatWasTried(t *testing.T) {
	now := time.Unix(1_770_000_000, 0)
	v := func(p backend.Plane, o backend.Outcome) backend.Verdict {
		return backend.Verdict{Plane: p, Outcome: o, At: now}
	}
	for want, all := range map[string][]backend.Verdict{
		"not tried": nil,
		"healthy; not tried: control, exec, filesystem read": {v("fs-list", "ok")},
		"healthy; not tried: control, filesystem":            {v("exec", "ok")},
		"healthy":                                   {v("control", "ok"), v("exec", "ok"), v("fs-list", "ok"), v("fs-read", "ok")},
		"healthy; not tried: queue":                 {v("control", "ok"), v("exec", "ok"), v("fs-list", "ok"), v("fs-read", "ok"), v("queue", "not-tried")},
		"exec: failed":                              {v("control", "ok"), v("exec", "failed")},
		"filesystem list: unknown":                  {v("control", "ok"), v("fs-list", "unknown")},
		"led; not tried: control, exec, filesystem": {{Plane: "driver", Outcome: "ok", What: backend.Text("led"), At: now}},
		"the mount":                                 {v("control", "ok"), {Plane: "exec", Outcome: "failed", Kind: backend.FailExecTimeout, At: now}, {Plane: "fs-list", Outcome: "failed", Kind: backend.FailMountGone, What: backend.Text("the mount"), At: now}},
		"driver: failed, gone":                      {v("control", "ok"), {Plane: "driver", Outcome: "failed", Kind: backend.FailGone, At: now}},
	} {
		o := backend.Observation{Verdicts: backend.MergeVerdicts(all)}
		if o.What().String() != want || o.Works() != strings.HasPrefix(want, "healthy") {
			t.Errorf("%q, want %q", o.What(), want)
		}
	}
}
