package scenario

import "sandglass/backend"

// knownMetric reports whether some source counts this: one that is misspelt would be judged by no rule.
func knownMetric(m backend.Metric) bool {
	m, _ = m.Unsaid()
	for _, e := range backend.CloseErrnos() {
		if m == backend.CloseFailedWith(e) {
			return true
		}
	}
	for _, detail := range backend.PreviewFailures() {
		if m == backend.PreviewFailedBy(detail) {
			return true
		}
	}
	if _, is := m.Pattern(); is {
		return true
	}
	switch m {
	case backend.MetricErrorLines, backend.MetricEvictions, backend.MetricEvictionRetries, backend.MetricEvictionExhausted, backend.MetricRejections, backend.MetricRollups,
		backend.MetricLogLines, backend.MetricLogBytes, backend.MetricWorkspaceFailed, backend.MetricWorkspaceEvicted, backend.MetricCloseTimeout,
		backend.MetricTmpdirCloseFailed, backend.MetricNameCollision, backend.MetricAgentOOM, backend.MetricPersistFailed, backend.MetricHydrateFailed, backend.MetricPersistDone, backend.MetricExecDone, backend.MetricPreviewFailed, backend.MetricPTYCount, backend.MetricPTYUnknown, backend.MetricPTYFailed, backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing, backend.MetricSDKDelete, backend.MetricSDKNotice, backend.MetricPackageMissing,
		backend.MetricRejectedWords, backend.MetricReads, backend.MetricReadBytes, backend.MetricWrites, backend.MetricNamed, backend.MetricLimitKills:
		return true
	}
	return false
}

func registryWord(w string) (backend.RegistryState, bool) {
	switch w {
	case "none":
		return backend.RegistryNone, true
	case "answers":
		return backend.RegistryAnswers, true
	case "all-idle":
		return backend.RegistryAllIdle, true
	case "no-route":
		return backend.RegistryNoRoute, true
	case "wrong-path":
		return backend.RegistryWrongPath, true
	}
	return "", false
}

func answerWord(w string) (backend.RouteAnswer, bool) {
	switch w {
	case "none":
		return backend.AnswerNone, true
	case "ok":
		return backend.AnswerOK, true
	case "idle":
		return backend.AnswerIdle, true
	case "no-route":
		return backend.AnswerNoRoute, true
	case "wrong-path":
		return backend.AnswerWrongPath, true
	case "invalid":
		return backend.AnswerInvalid, true
	case "failed":
		return backend.AnswerFailed, true
	}
	return "", false
}
