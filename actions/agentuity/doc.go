// Package agentuity acts on sandboxes of Agentuity and on sessions of its Coder Hub: one request for each order, and after what is
// accepted the planes are looked at. It has never run against the live service.
package agentuity
