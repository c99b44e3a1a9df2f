package access

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// ImageSize is what an image gets that is asked for: whole MiB below one GiB, whole GiB from there on.
func ImageSize(bytes int64) uint64 {
	if bytes < gibibyte {
		return upTo(bytes, mebibyte)
	}
	return upTo(bytes, gibibyte)
}

// SubvolumeSize is what a subvolume gets: four MiB at least, and multiples of them, too.
func SubvolumeSize(bytes int64) uint64 {
	return ImageSize(int64(upTo(max(bytes, 1), 4*mebibyte)))
}

func upTo(bytes, unit int64) uint64 { return uint64((bytes + unit - 1) / unit * unit) }
