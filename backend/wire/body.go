package wire

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"sandglass/backend"
)

// errTooLarge marks a body beyond its limit, on either side of the decompression.
var errTooLarge = errors.New("too large")

// read takes the body, decoded, within the limit. The Response is never nil, so that its size can be counted.
func (c *Client) read(ctx context.Context, answer *http.Response, r Request, where string) (*Response, error) {
	resp := &Response{Status: answer.StatusCode, Header: answer.Header, ETag: answer.Header.Get("ETag"), Where: where}
	limit := c.cfg.MaxBody
	if r.MaxBody > 0 {
		limit = r.MaxBody
	}
	failed := answer.StatusCode < 200 || answer.StatusCode > 299
	if failed {
		limit = min(limit, maxErrorBody)
	}
	tooLarge := c.fail(backend.ErrInvalid, where, fmt.Errorf("the body is larger than %s", sizeText(limit)))
	encoding := strings.ToLower(answer.Header.Get("Content-Encoding"))
	plain := encoding == "" || encoding == "identity"
	if plain && answer.ContentLength > limit && !failed {
		return resp, tooLarge
	}
	var body io.Reader = &bounded{r: answer.Body, left: limit}
	switch {
	case encoding == "gzip" && answer.StatusCode != http.StatusNotModified:
		z, err := gzip.NewReader(body)
		if err != nil {
			return resp, c.bodyError(ctx, where, err, 0)
		}
		body = &bounded{r: z, left: limit}
	case !plain && answer.StatusCode != http.StatusNotModified:
		return resp, c.fail(backend.ErrInvalid, where, fmt.Errorf("content encoding %q was not asked for", encoding))
	}
	hint := int64(0)
	if plain {
		hint = answer.ContentLength
	}
	data, err := readAll(body, r.Buffer, hint)
	resp.Body = data
	switch {
	case errors.Is(err, errTooLarge) && failed: // a long error page is no reason to forget the status
		return resp, nil
	case errors.Is(err, errTooLarge):
		return resp, tooLarge
	case err != nil:
		return resp, c.bodyError(ctx, where, err, int64(len(data)))
	}
	return resp, nil
}

func (c *Client) bodyError(ctx context.Context, where string, err error, got int64) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || strings.HasPrefix(err.Error(), "flate:") {
		return c.fail(backend.ErrInvalid, where, fmt.Errorf("the gzip stream is broken after %d bytes: %w", got, err))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return c.fail(backend.ErrUnreachable, where, fmt.Errorf("the connection was lost after %d bytes", got))
	}
	return c.transportError(ctx, where, err, got)
}

// bounded hands out at most left bytes and fails with errTooLarge on the next one.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, errTooLarge
	}
	return n, err
}

// readAll reads to the end into buf, which grows by what came, never by what a header promised beyond 1 MiB.
func readAll(r io.Reader, buf []byte, hint int64) ([]byte, error) {
	buf = buf[:0]
	if want := int(min(hint, 1<<20)) + 1; cap(buf) < want {
		buf = make([]byte, 0, max(want, 512))
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

func sizeText(n int64) string {
	text, err := backend.Size(n).MarshalText()
	if err != nil {
		return fmt.Sprintf("%dB", n)
	}
	return string(text)
}
