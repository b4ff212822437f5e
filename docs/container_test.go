package docs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The commands of the page on containers, and their flags, are those of the binary, and the
// Makefile has the target that the image needs.
func TestContainerPage(t *testing.T) {
	page, err := os.ReadFile("guide/container.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := program(t)
	commands := regexp.MustCompile(`(?m)(?:"\$PWD:/data" d3p|\$D3P) ([a-z]+)(.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(commands) != 5 {
		t.Fatalf("%d commands, want 5", len(commands))
	}
	for _, c := range commands {
		help, err := exec.Command(folder+"/d3p", c[1], "--help").CombinedOutput()
		if err != nil || !strings.Contains(string(help), "d3p "+c[1]+" ") {
			t.Errorf("d3p %s: %v\n%s", c[1], err, help)
		}
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(c[2], -1) {
			if !strings.Contains(string(help), flag+" ") {
				t.Errorf("d3p %s has no %s", c[1], flag)
			}
		}
	}
	for _, target := range regexp.MustCompile(`RUN make (\w+)`).FindAllStringSubmatch(string(page), -1) {
		if makefile, err := os.ReadFile("../Makefile"); err != nil || !strings.Contains(string(makefile), "\n"+target[1]+":\n") {
			t.Errorf("the Makefile has no target %s (%v)", target[1], err)
		}
	}
}
