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
			_, _, _ = eng.stat(ctx, e.id.Raw(), "/")
			_, _, _ = eng.top(ctx, e.id.Raw())
			return
		}
	}
}

// KnownFields are the fields of the Engine API that the client library knows.
func (s *Source) KnownFields() (known, data []string) {
	seen := map[fieldPlace]bool{}
	for _, t := range []reflect.Type{reflect.TypeFor[container.Summary](), reflect.TypeFor[container.InspectResponse](), reflect.TypeFor[container.StatsResponse](),
		reflect.TypeFor[mobyvolume.ListResponse](), reflect.TypeFor[events.Message](), reflect.TypeFor[system.Info](), reflect.TypeFor[container.TopResponse]()} {
		fieldsOf(fieldPlace{t, ""}, seen, &known, &data)
	}
	// The newest library knows fields no longer that older engines answer.
	known = append(known, "KernelMemory", "KernelMemoryTCP", "MacAddress", "Links", "LinkLocalIPv6Address", "LinkLocalIPv6PrefixLen", "SecondaryIPAddresses",
		"SecondaryIPv6Addresses", "EndpointID", "Gateway", "GlobalIPv6Address", "GlobalIPv6PrefixLen", "IPAddress", "IPPrefixLen", "IPv6Gateway", "HairpinMode", "Bridge",
		"Capabilities", "status", "id", "from")
	// Podman's own.
	known = append(known, "AdjustCPUShares", "NetworkingConfig", "cpu")
	slices.Sort(known)
	return slices.Compact(known), data
}

// fieldPlace is a type, and the JSON name of the field that holds it.
type fieldPlace struct {
	of reflect.Type
	in string
}

// fieldsOf collects the JSON names of a type's fields, and those of its maps with the field that holds them: Config.Labels.
func fieldsOf(p fieldPlace, seen map[fieldPlace]bool, known, data *[]string) {
	for p.of.Kind() == reflect.Pointer || p.of.Kind() == reflect.Slice || p.of.Kind() == reflect.Map || p.of.Kind() == reflect.Array {
		p.of = p.of.Elem()
	}
	if p.of.Kind() != reflect.Struct || seen[p] {
		return
	}
	seen[p] = true
	for f := range p.of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" && !f.Anonymous {
			name = f.Name
		}
		if name == "" { // embedded: its fields are those of the type itself
			fieldsOf(fieldPlace{f.Type, p.in}, seen, known, data)
			continue
		}
		*known = append(*known, name)
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Map {
			*data = append(*data, strings.TrimPrefix(p.in+"."+name, "."))
		}
		fieldsOf(fieldPlace{f.Type, name}, seen, known, data)
	}
}
