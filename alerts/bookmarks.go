package alerts

import (
	"slices"
	"time"

	"sandglass/backend"
)

// bookmarks remembers where each source of files stands; a source that did not answer stands where it did.
func (ev *evaluation) bookmarks() {
	ev.next.bookmarks = ev.old.bookmarks
	own := false
	for _, h := range ev.st.Sources {
		if len(h.Bookmarks) == 0 {
			continue
		}
		if !own {
			ev.next.bookmarks, own = map[string][]backend.Bookmark{}, true
			for k, v := range ev.old.bookmarks {
				ev.next.bookmarks[k] = v
			}
		}
		marks := h.Bookmarks
		if h.LastOK.IsZero() { // all that it told is until when it wants to be left alone
			_, old := backend.TakeQuiet(ev.old.bookmarks[h.Key.Source], h.LastTry)
			marks = append(old, marks...)
		}
		ev.next.bookmarks[h.Key.Source] = marks
	}
}

// restoreBookmarks moves the times of a former process by how far the wall clock was set since.
func restoreBookmarks(saved map[string][]backend.Bookmark, set time.Duration) map[string][]backend.Bookmark {
	for _, marks := range saved {
		for i := range marks {
			marks[i].Sizes, marks[i].Counters = slices.Clone(marks[i].Sizes), marks[i].Counters.Moved(set)
			for j := range marks[i].Sizes {
				s := &marks[i].Sizes[j]
				if s.At = s.At.Add(set); !s.Written.IsZero() {
					s.Written = s.Written.Add(set)
				}
			}
		}
	}
	return saved
}

// Bookmarks are where a former process stood in the files of its sources, by source.
func (svc *Service) Bookmarks() map[string][]backend.Bookmark {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	if svc.adopted == nil || svc.adopted.memory == nil {
		return nil
	}
	return svc.adopted.memory.bookmarks
}

// FormerSandboxes are those that a former process read last, before it ended, in no order.
func (svc *Service) FormerSandboxes() (out []*backend.Sandbox) {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	if svc.adopted == nil || svc.adopted.memory == nil {
		return nil
	}
	for _, p := range svc.adopted.memory.past {
		if b, is := p.Entity.(*backend.Sandbox); is && p.Left.IsZero() {
			out = append(out, b)
		}
	}
	return out
}
