package privacy

import (
	"bufio"
	"fmt"
	"os"
)

// physicalMemory is the memory of this machine in bytes, 0 where it is unknown:
// a table that cannot fit is refused before it is read.
func physicalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kilobytes int64
		if n, _ := fmt.Sscanf(s.Text(), "MemTotal: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}
