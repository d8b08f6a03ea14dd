package backend

// The labels of a sandbox that Sandglass made for itself: the digest of the plan, and the identity of the state directory
// whose journal has that plan. Such a sandbox belongs to no session and is judged by no rule.
const (
	LabelPlan  = "sandglass.plan"
	LabelState = "sandglass.state"
)
