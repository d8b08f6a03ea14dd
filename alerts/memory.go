package alerts

// memory is what the engine carries from Board to Board: one record per finding. It is filled by the engine.
type memory struct{}
