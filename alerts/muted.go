package alerts

// Muted reports whether the alert rings no bell: somebody has it, it flaps, or another line stands for it.
func (a *Alert) Muted() bool {
	return a.Acknowledged != nil || a.Silenced != nil || a.Flapping || a.Hidden()
}

// Hidden reports whether another line stands for the alert: that of its source, or of an outage that explains it.
func (a *Alert) Hidden() bool { return a.FoldedUnder != "" || a.InhibitedBy != "" }
