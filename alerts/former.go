package alerts

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// maxFormer bounds how many workspaces of one source the next process knows to have been read.
const maxFormer = 200_000

// former is what a former process read last of a source's workspaces, by hashes: enough to know which were read, and which of
// these were evicted.
type former struct {
	At   time.Time `json:"at"`             // steady
	Read []byte    `json:"read,omitempty"` // four bytes each
	read []uint32  // sorted; of a loaded one
}

func workspaceHash(k backend.Key, evicted bool) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.Parent.Raw())) // a hash takes everything
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(k.ID.Raw()))
	if evicted {
		_, _ = h.Write([]byte{1})
	}
	return h.Sum32()
}

func (f *former) has(hash uint32) bool {
	_, is := slices.BinarySearch(f.read, hash)
	return is
}

// formers are what the next process is to know: of sources that this process has not read what the one before read.
func (b *Board) formers() map[string]*former {
	out := map[string]*former{}
	for id, f := range b.memory.former {
		out[id] = f
	}
	if b.state == nil {
		return out
	}
	for _, h := range b.state.Sources {
		if h.LastOK.IsZero() {
			continue
		}
		out[h.Key.Source] = &former{At: b.memory.clock.ours(h.LastOK)}
	}
	var f *former
	last := ""
	for w := range b.state.Workspaces.All() {
		if w.Key.Source != last || f == nil {
			last = w.Key.Source
			if f = out[last]; f == nil || f == b.memory.former[last] {
				f = &former{}
			}
		}
		if !w.Unreadable && !w.Stale && len(f.Read) < 4*maxFormer {
			f.Read = binary.LittleEndian.AppendUint32(f.Read, workspaceHash(w.Key, w.Class == backend.ClassEvicted))
		}
	}
	return out
}

func restoreFormers(all map[string]*former) map[string]*former {
	for id, f := range all {
		if f == nil {
			delete(all, id)
			continue
		}
		f.read = make([]uint32, 0, len(f.Read)/4)
		for data := f.Read; len(data) >= 4; data = data[4:] {
			f.read = append(f.read, binary.LittleEndian.Uint32(data))
		}
		slices.Sort(f.read)
	}
	return all
}

// Earlier is what the reading before the newest one says of a workspace, also one that a former process took.
type Earlier struct {
	At            time.Time // steady; zero: its source was not read before
	Read, Evicted bool      // the workspace was read, and as evicted
}

// Earlier finds what was read of a workspace before this State.
func (e *Env) Earlier(w *backend.Workspace) Earlier {
	if e.prior != nil {
		if h := e.prior.Source(w.Key.Source); h != nil && !h.LastOK.IsZero() {
			return e.earlierIn(h, w.Key)
		}
	}
	f := e.former[w.Key.Source]
	if f == nil {
		return Earlier{}
	}
	x := Earlier{At: f.At, Evicted: f.has(workspaceHash(w.Key, true))}
	x.Read = x.Evicted || f.has(workspaceHash(w.Key, false))
	return x
}

// LastAnswer is when a source last answered, also to a former process; steady.
func (e *Env) LastAnswer(h *fleet.SourceHealth) time.Time {
	if f := e.former[h.Key.Source]; h.LastOK.IsZero() && f != nil {
		return f.At
	}
	return e.Ours(h.LastOK)
}

// LastAnswer is when a source last answered a former process, for one that this process has not read.
func (b *Board) LastAnswer(source string) time.Time {
	if b == nil || b.memory == nil || b.memory.former[source] == nil {
		return time.Time{}
	}
	return b.memory.clock.display(b.memory.former[source].At)
}

func (e *Env) earlierIn(h *fleet.SourceHealth, k backend.Key) Earlier {
	x := Earlier{At: e.Ours(h.LastOK)}
	was := e.prior.Workspace(k)
	if was == nil {
		return x
	}
	if was.Stale {
		x.At = e.Ours(was.ReadAt)
	}
	x.Read, x.Evicted = !was.Unreadable, was.Class == backend.ClassEvicted
	return x
}

// Appeared is when a workspace was first read; zero where a former process had read it.
func (e *Env) Appeared(w *backend.Workspace) time.Time {
	f := e.former[w.Key.Source]
	if f != nil && (f.has(workspaceHash(w.Key, false)) || f.has(workspaceHash(w.Key, true))) {
		return time.Time{}
	}
	return e.Ours(w.FirstSeen)
}
