package hostfs

// Scratch says where scratch directories are, as the configuration of a "tmpdir" source does. The Source gives it to the
// actions on such directories (method Scratch).
type Scratch struct {
	Roots   []string // absolute and clean, as configured; a link in them is not resolved
	Pattern string   // path.Match pattern of names directly below a root
	Owner   Account  // the user that agents run as
	Host    Host     // the host that they are on
}
