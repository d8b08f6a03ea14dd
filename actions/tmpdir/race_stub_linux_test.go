package tmpdir

func swapFor(string) {}
