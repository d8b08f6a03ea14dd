package docker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func TestVolumesThatStandForAPlaceOfTheHost(t *testing.T) {
	f := newFake(t)
	s, _ := f.source(nil)
	if _, err := s.Volumes(t.Context()); backend.KindOf(err) != backend.ErrUnreachable {
		t.Errorf("volumes before any engine answered: %v", err)
	}
	mustPoll(t, s)
	f.taken()
	var all []string
	for name, options := range map[string]string{
		"bound": `{"device":"/srv/a","o":"bind","type":"none"}`, "read-only": `{"device":"/srv/b","o":"ro,rbind","type":"none"}`,
		"loop": `{"device":"/srv/c.img","o":"loop","type":"ext4"}`, "layers": `{"device":"overlay","o":"lowerdir=/srv/l1:/srv/l2,upperdir=/srv/u,workdir=/srv/w","type":"overlay"}`,
		"relative": `{"device":"srv/d","o":"bind","type":"none"}`, "long": `{"device":"/` + strings.Repeat("d", backend.MaxIDBytes) + `","o":"bind"}`,
		"plain": `null`, "empty": `{}`, "memory": `{"device":"tmpfs","o":"size=100m","type":"tmpfs"}`, "far": `{"device":":/export","o":"addr=10.0.0.1,rw","type":"nfs"}`,
	} {
		all = append(all, fmt.Sprintf(`{"CreatedAt":"2026-11-21T10:00:00Z","Driver":"local","Labels":null,"Mountpoint":"/var/lib/docker/volumes/%s/_data","Name":%q,"Options":%s,"Scope":"local"}`, name, name, options))
	}
	f.change(func() { f.volumes = `{"Volumes":[` + strings.Join(all, ",") + `],"Warnings":null}` })
	vs, err := s.Volumes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range vs {
		got = append(got, v.Name.String()+" "+v.RawSource.Raw())
	}
	slices.Sort(got)
	want := []string{"bound /srv/a", "layers /srv/l1", "layers /srv/l2", "layers /srv/u", "layers /srv/w", "long ", "loop /srv/c.img", "read-only /srv/b", "relative "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if asked := f.taken(); len(asked) != 1 || !strings.HasPrefix(asked[0], "GET /v1.41/volumes?filters=%7B%22driver%22%3A%7B%22local%22%3Atrue") {
		t.Errorf("asked %q", asked)
	}
}

// TestVolumesThatAreNotKnown: an answer that is not whole is an error, and no shorter list.
func TestVolumesThatAreNotKnown(t *testing.T) {
	f := newFake(t)
	s, _ := f.source(nil)
	mustPoll(t, s)
	for answer, want := range map[string]string{
		`{"Volumes":[],"Warnings":["driver local: cannot read password=hunter2-hunter2"]}`: "may not be complete: driver local",
		`{"Volumes":[{"Na`: "", ``: "the answer is empty", `[]`: "",
	} {
		f.change(func() { f.volumes = answer })
		if vs, err := s.Volumes(t.Context()); err == nil || vs != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, %v", answer, vs, err)
		}
	}
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError} {
		f.change(func() {
			f.override = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(status)
				fmt.Fprint(w, `{"message":"not for you"}`)
				return true
			}
		})
		if _, err := s.Volumes(t.Context()); err == nil || !strings.Contains(err.Error(), "not for you") {
			t.Errorf("%d: %v", status, err)
		}
	}
	// An engine that says nothing more keeps nobody longer than the deadline, nor does one that has its hands full.
	f.change(func() {
		f.override = func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}
	})
	s.deps.Deadline = 50 * time.Millisecond
	if _, err := s.Volumes(t.Context()); backend.KindOf(err) != backend.ErrTimeout {
		t.Errorf("an engine that hangs: %v", err)
	}
	for range inFlight {
		s.slots <- struct{}{}
	}
	if _, err := s.Volumes(t.Context()); backend.KindOf(err) != backend.ErrTimeout {
		t.Errorf("no slot: %v", err)
	}
}
