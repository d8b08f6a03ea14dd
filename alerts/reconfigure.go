package alerts

// Reconfigure has the next State evaluated by another engine of the same environment: thresholds can change while the program
// runs. Every subject is then looked at, since what did not change may be judged otherwise. Alerts of rules that are not there any
// more go, as after a restart.
func (svc *Service) Reconfigure(e *Engine) {
	svc.evaluating.Lock()
	defer svc.evaluating.Unlock()
	svc.mu.Lock()
	defer svc.mu.Unlock()
	svc.engine = e
	svc.board = svc.board.reconsidered()
	if svc.opt.Store != nil {
		svc.opt.Store.reconfigure(e)
	}
}

// concludes is the engine in force.
func (svc *Service) concludes() *Engine {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	return svc.engine
}

// reconsidered is the Board with a memory from which the next evaluation looks at every subject.
func (b *Board) reconsidered() *Board {
	if b == nil || b.memory == nil {
		return b
	}
	c, m := *b, *b.memory
	m.reconsider = true
	c.memory = &m
	return &c
}

// reconfigure has the file read as another engine does.
func (s *StateStore) reconfigure(e *Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine = e
}

// reads is the engine in force.
func (s *StateStore) reads() *Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine
}
