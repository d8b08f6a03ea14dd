package backend

// KindJob is the kind of a Job.
const KindJob Kind = "job"

var jobKind = SubjectKind{
	Kind: KindJob, Name: "job", Plural: "jobs", List: "jobs", Short: "jb",
	Parents: []Kind{KindSandbox, KindSession}, PathHasParent: true, PartOfParent: true, Copy: copyOf[Job],
	Carry: carryWork, Forget: forgetWork, Happened: workEnded,
}

// Job is one command that runs in the background of a sandbox or a session, beside executions and other jobs. Its key's
// Parent is what Within says.
type Job struct {
	Meta
	Work
}

// Alias is its id without that of its sandbox or session.
func (x *Job) Alias() string { return x.Key.ID.Raw() }
