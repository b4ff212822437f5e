package privacy

import (
	"bufio"
	"fmt"
	"os"
)

// physicalMemory is the memory of this machine in bytes, 0 if unknown. A table that cannot
// fit is refused before it is read.
func physicalMemory() int64 { return meminfo("MemTotal") }

// FreeMemory is the memory in bytes that this process may take without swapping; 0 if
// unknown.
func FreeMemory() int64 {
	free := meminfo("MemAvailable")
	for _, group := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // of a container
		var limit int64
		if text, err := os.ReadFile(group); err == nil {
			if n, _ := fmt.Sscan(string(text), &limit); n == 1 {
				free = min(free, limit)
			}
		}
	}
	return free
}

func meminfo(name string) int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kilobytes int64
		if n, _ := fmt.Sscanf(s.Text(), name+": %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}
