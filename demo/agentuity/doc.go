// Package agentuity is a make-believe Agentuity: regional sandbox bases, the
// routes of the command line, and a Coder Hub, with stories of sandboxes that
// report one thing and do another.
//
// A World is a state machine. Its seed, its story, the time and what clients
// did decide every answer. Answers have the forms that the vendor's client,
// npm @agentuity/core 2.0.21, checks; TestVendorClient runs that client. What
// no source tells of the real service is a guess, and the real service may
// behave otherwise.
package agentuity
