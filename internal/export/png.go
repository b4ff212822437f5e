package export

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"io"
)

// afterHeader is the place of the chunks after IHDR: 8 bytes of signature, and IHDR with
// its length, name, 13 bytes and check.
const afterHeader = 8 + 4 + 4 + 13 + 4

// encode writes a PNG with the comment in UTF-8 in a chunk iTXt. PNG third edition, W3C
// 2025, sections 5.3 and 11.3.3.4.
func encode(w io.Writer, m image.Image, comment string) error {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return err
	}
	text := append([]byte("iTXtComment\x00\x00\x00\x00\x00"), comment...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(text)-4))
	chunk = append(chunk, text...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(text))
	for _, part := range [][]byte{b.Bytes()[:afterHeader], chunk, b.Bytes()[afterHeader:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
