package docker

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/api/types/system"
	mobyvolume "github.com/moby/moby/api/types/volume"
)

// Examine asks the routes that a first reading leaves out: what the engine answers is for whoever watches the requests.
func (s *Source) Examine(ctx context.Context) {
	eng, err := s.connected(ctx)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 3*s.deadline(ctx))
	defer cancel()
	_, _ = eng.volumes(ctx)
	now := s.deps.Now()
	_, _ = eng.kills(ctx, now.Add(-time.Second), now)
	for _, e := range s.sorted() {
		if e.ins != nil && e.alive() {
			_, _ = eng.stats(ctx, e.id.Raw())
			_, _ = eng.tail(ctx, e.id.Raw(), 1, e.ins.tty)
			return
		}
	}
}

// KnownFields are the fields of the Engine API that the client library knows.
func (s *Source) KnownFields() (known, data []string) {
	seen := map[reflect.Type]bool{}
	for _, t := range []reflect.Type{reflect.TypeFor[container.Summary](), reflect.TypeFor[container.InspectResponse](), reflect.TypeFor[container.StatsResponse](),
		reflect.TypeFor[mobyvolume.ListResponse](), reflect.TypeFor[events.Message](), reflect.TypeFor[system.Info](), reflect.TypeFor[container.TopResponse]()} {
		fieldsOf(t, seen, &known, &data)
	}
	// The newest library knows fields no longer that older engines answer.
	known = append(known, "KernelMemory", "KernelMemoryTCP", "MacAddress", "Links", "LinkLocalIPv6Address", "LinkLocalIPv6PrefixLen", "SecondaryIPAddresses",
		"SecondaryIPv6Addresses", "EndpointID", "Gateway", "GlobalIPv6Address", "GlobalIPv6PrefixLen", "IPAddress", "IPPrefixLen", "IPv6Gateway", "HairpinMode", "Bridge",
		"Capabilities", "status", "id", "from")
	slices.Sort(known)
	return slices.Compact(known), data
}

// fieldsOf collects the JSON names of a type's fields, and those of its maps.
func fieldsOf(t reflect.Type, seen map[reflect.Type]bool, known, data *[]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" && !f.Anonymous {
			name = f.Name
		}
		if name != "" {
			*known = append(*known, name)
		}
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Map && name != "" {
			*data = append(*data, name)
		}
		fieldsOf(f.Type, seen, known, data)
	}
}
