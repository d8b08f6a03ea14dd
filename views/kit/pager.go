package kit

// Pager scrolls through lines.
type Pager struct {
	top, height, total int
}

// Move scrolls by n lines.
func (p *Pager) Move(n int) { p.top += n; p.clamp() }

// Page scrolls by n pages.
func (p *Pager) Page(n int) { p.Move(n * max(1, p.height-1)) }

// Show scrolls so that a line is in sight.
func (p *Pager) Show(line int) {
	if line >= 0 && p.height > 0 {
		p.top = max(min(p.top, line), line-p.height+1)
		p.clamp()
	}
}

// More reports whether lines are below those that were visible last.
func (p *Pager) More() bool { return p.top+p.height < p.total }

// Top is the first line in sight.
func (p *Pager) Top() int { return p.top }

// AtTop reports whether no line is above those that were visible last.
func (p *Pager) AtTop() bool { return p.top == 0 }

// Home and End go to the beginning and the end.
func (p *Pager) Home() { p.top = 0 }

// End goes to the last page.
func (p *Pager) End() { p.top = p.total; p.clamp() }

func (p *Pager) clamp() { p.top = max(0, min(p.top, p.total-p.height)) }

// Window returns the visible lines and how many lie above and below.
func (p *Pager) Window(lines []string, height int) (visible []string, above, below int) {
	p.total, p.height = len(lines), height
	p.clamp()
	end := min(p.top+max(height, 0), len(lines))
	return lines[p.top:end], p.top, len(lines) - end
}
