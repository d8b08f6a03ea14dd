package hostfs

// Scratch says where scratch directories lie: what the source kind "tmpdir" was configured with. Its Source hands it to
// whoever acts on such directories (method Scratch).
type Scratch struct {
	Roots   []string // absolute and clean, as configured; a link in them is not resolved
	Pattern string   // path.Match pattern of names directly below a root
	Owner   Account  // the user that agents run as
}
