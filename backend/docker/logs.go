package docker

import (
	"context"

	"sandglass/backend"
	"sandglass/backend/loglines"
)

// LogsOf is the log of a container: its standard output and standard error, as the engine keeps them.
func (s *Source) LogsOf(about backend.LogAbout) []backend.Log {
	if about.Key.Kind != backend.KindSandbox || about.Key.Source != s.deps.ID {
		return nil
	}
	id := about.Key.ID.Raw()
	name := about.Title
	if name.IsEmpty() {
		name = backend.Clean(id[:min(len(id), 12)], 12)
	}
	return []backend.Log{{Name: backend.Textf("container %s", name),
		Read: func(ctx context.Context, q backend.LogQuery, to backend.LogSink) error {
			eng, err := s.reader()
			if err != nil {
				return err
			}
			if err = eng.logs(ctx, id, q, to); err != nil && ctx.Err() == nil {
				return s.sign(err)
			}
			return err
		}}}
}

// reader is the engine of the newest poll.
func (s *Source) reader() (engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eng == nil {
		return nil, s.silent()
	}
	return s.eng, nil
}

func (m *moby) logs(ctx context.Context, id string, q backend.LogQuery, to backend.LogSink) error {
	if err := loglines.Container(ctx, m.api, id, q, to); err != nil {
		return m.fail("/containers/"+id+"/logs", err)
	}
	return nil
}
