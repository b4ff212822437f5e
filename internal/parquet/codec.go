package parquet

import (
	"bytes"
	"compress/gzip"
	"io"

	"github.com/dsnet/compress/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
)

// decompressor keeps its buffers from one page to the next.
type decompressor struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// decompress returns the n bytes that src encodes, in room if they fit. The format lets a
// page have 2 GiB, and one text of a record may be most of it.
func (d *decompressor) decompress(codec int64, src, room []byte, n int) []byte {
	const expansion = 1 << 15 // no byte of gzip or zstd expands to more
	if (codec == 2 || codec == 6) && n/expansion > len(src) {
		panic(errDamaged)
	}
	dst := room[:cap(room)]
	if len(dst) < n {
		dst = make([]byte, n)
	}
	dst = dst[:n]
	var err error
	switch codec {
	case 0:
		if len(src) != n {
			panic(errDamaged)
		}
		return src
	case 1:
		if m, bad := snappy.DecodedLen(src); bad != nil || m != n {
			panic(errDamaged)
		}
		dst, err = snappy.Decode(dst, src)
	case 2:
		if d.gzip == nil {
			d.gzip = new(gzip.Reader)
		}
		if err = d.gzip.Reset(bytes.NewReader(src)); err == nil {
			_, err = io.ReadFull(d.gzip, dst)
		}
	case 4:
		var r *brotli.Reader
		if r, err = brotli.NewReader(bytes.NewReader(src), nil); err == nil {
			_, err = io.ReadFull(r, dst)
		}
	case 6:
		if d.zstd == nil {
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		}
		if err == nil {
			dst, err = d.zstd.DecodeAll(src, dst[:0])
		}
	default: // LZO and LZ4
		panic(errDamaged)
	}
	if err != nil || len(dst) != n {
		panic(errDamaged)
	}
	return dst
}
