package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"

	"github.com/dsnet/compress/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressor keeps its buffers from one page to the next.
type decompressor struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

// decompress returns the n bytes that src encodes, in room if they fit. The format lets a
// page have 2 GiB, and one text of a record may be most of it.
func (d *decompressor) decompress(codec int64, src, room []byte, n int) []byte {
	const expansion = 1 << 15 // no byte of gzip, LZ4 or zstd expands to more
	if (codec == 2 || codec >= 5) && n/expansion > len(src) {
		panic(errDamaged)
	}
	if n == 0 && len(src) == 0 { // Spark compresses no values to no bytes: a page of missing cells alone
		return nil
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
	case 5:
		dst = framedLZ4(dst, src)
	case 6:
		if d.zstd == nil {
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		}
		if err == nil {
			dst, err = d.zstd.DecodeAll(src, dst[:0])
		}
	case 7:
		dst = dst[:unpackLZ4(dst, src)]
	default: // LZO
		panic(errDamaged)
	}
	if err != nil || len(dst) != n {
		panic(errDamaged)
	}
	return dst
}

// unpackLZ4 unpacks a block without a frame, and returns its length.
func unpackLZ4(dst, src []byte) int {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		panic(errDamaged)
	}
	return n
}

// framedLZ4 unpacks the codec LZ4: blocks, each after its lengths unpacked and packed, as Hadoop
// has it, or one block alone. https://github.com/apache/parquet-format/blob/master/Compression.md
func framedLZ4(dst, src []byte) []byte {
	n := 0
	for rest := src; len(rest) > 0; {
		if len(rest) < 8 {
			return dst[:unpackLZ4(dst, src)]
		}
		unpacked, packed := uint64(binary.BigEndian.Uint32(rest)), uint64(binary.BigEndian.Uint32(rest[4:]))
		rest = rest[8:]
		if packed > uint64(len(rest)) || unpacked > uint64(len(dst)-n) {
			return dst[:unpackLZ4(dst, src)]
		}
		if unpackLZ4(dst[n:n+int(unpacked)], rest[:packed]) != int(unpacked) {
			panic(errDamaged)
		}
		n, rest = n+int(unpacked), rest[packed:]
	}
	return dst[:n]
}
