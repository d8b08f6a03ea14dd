package backend

// KindExecution is the kind of an Execution.
const KindExecution Kind = "execution"

var executionKind = SubjectKind{
	Kind: KindExecution, Name: "execution", Plural: "executions", List: "executions", Short: "ex",
	Parents: []Kind{KindSandbox, KindSession}, PathHasParent: true, PartOfParent: true, Copy: copyOf[Execution],
	Carry: carryWork, Forget: forgetWork, Happened: workEnded,
}

// Execution is one request that a sandbox or a session carries out, such as a command or a file read. Some platforms run
// the executions of a sandbox one after the other. Its key's Parent is what Within
// says.
type Execution struct {
	Meta
	// Type is the platform's word for what is requested: exec, write_files, read_file.
	Type Safe `json:"type,omitzero"`
	Work
}

// Alias is its id without that of its sandbox or session.
func (x *Execution) Alias() string { return x.Key.ID.Raw() }
