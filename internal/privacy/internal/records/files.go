package records

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"d3p/internal/privacy/internal/records/tablefile"
)

// Files are the files of a user's data argument, in order: a file; the data files of a
// folder and of its folders; the files that match a pattern such as claims/*.parquet; or
// those in @LIST, a text file with one path per line, relative to its own folder. Several
// files must be regular, and all different, also behind links and lists: otherwise records
// would count twice. So no file may be another one in another format, by its name: whether
// it is would follow from records.
func Files(data string) ([]string, error) {
	files, err := namedFiles(data)
	if err != nil || len(files) == 1 && files[0] == data {
		return files, err
	}
	if err := notVersioned(data, files); err != nil {
		return nil, err
	}
	type likeness struct {
		size     int64
		modified time.Time
	}
	seen, bare := map[likeness][]int{}, map[string]string{}
	infos := make([]fs.FileInfo, len(files))
	for i, file := range files {
		if infos[i], err = os.Stat(file); err != nil {
			return nil, err
		}
		if !infos[i].Mode().IsRegular() {
			return nil, &tablefile.FileError{File: file, Problem: "is no regular file", Hint: "take it out of " + data}
		}
		like := likeness{infos[i].Size(), infos[i].ModTime()}
		for _, j := range seen[like] {
			if os.SameFile(infos[i], infos[j]) {
				return nil, &tablefile.FileError{File: file, Problem: "is the same file as " + files[j] + ", so its records would count twice", Hint: "take one of the two out of " + data}
			}
		}
		seen[like] = append(seen[like], i)
		name := withoutFormat(file)
		if other, there := bare[name]; there {
			return nil, &tablefile.FileError{File: file, Problem: "has the name of " + other + " in another format, and records that are in both would count twice", Hint: "take one of the two out of " + data + ", or rename it if it has other records"}
		}
		bare[name] = file
	}
	return files, nil
}

// versionMarks are folders beside the data files of a table of Delta Lake, Hudi or Iceberg.
var versionMarks = []string{"_delta_log", ".hoodie", "../metadata/*.metadata.json"}

// notVersioned returns an error if files lie in a table that keeps the files of its earlier
// versions: a changed row has a record in two files, and a deleted one still has a record.
func notVersioned(data string, files []string) error {
	checked := ""
	for _, file := range files {
		folder := filepath.Dir(file)
		for strings.Contains(filepath.Base(folder), "=") { // a partition
			folder = filepath.Dir(folder)
		}
		if folder == checked {
			continue
		}
		checked = folder
		for _, mark := range versionMarks {
			if found, _ := filepath.Glob(folder + "/" + mark); len(found) > 0 {
				return &tablefile.FileError{File: data, Problem: "is a table of Delta Lake, Hudi or Iceberg, whose files also have rows that were changed or deleted",
					Hint: "write its current rows to a file or folder of their own"}
			}
		}
	}
	return nil
}

// namedFiles are the files that data names.
func namedFiles(data string) ([]string, error) {
	if list, ok := strings.CutPrefix(data, "@"); ok {
		return listed(list)
	}
	info, err := os.Stat(data)
	switch {
	case err == nil && info.IsDir():
		return inFolder(data)
	case err != nil && strings.ContainsAny(data, "*?["):
		files, err := filepath.Glob(data)
		files = slices.DeleteFunc(files, func(file string) bool { return aNote(file) && !aNote(data) })
		if err != nil || len(files) == 0 {
			return nil, &tablefile.FileError{File: data, Problem: "no file matches the pattern", Hint: "quote it, so that the shell does not change it"}
		}
		return files, nil
	}
	return []string{data}, nil
}

// dataNames are the ends of names that a data file in a folder has; .gz may follow.
var dataNames = []string{".csv", ".tsv", ".parquet", ".parq", ".pq"}

// withoutFormat is the path of a data file without the ends that are its format.
func withoutFormat(file string) string {
	if end := filepath.Ext(file); strings.EqualFold(end, ".gz") {
		file = strings.TrimSuffix(file, end)
	}
	if end := filepath.Ext(file); slices.Contains(dataNames, strings.ToLower(end)) {
		return strings.TrimSuffix(file, end)
	}
	return file
}

// aNote reports whether a name starts with a dot or an underscore: such files and folders
// are notes of the programs that write folders of data.
func aNote(path string) bool { return strings.IndexByte("._", filepath.Base(path)[0]) >= 0 }

// inFolder are the data files below a folder, without notes.
func inFolder(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.ToLower(entry.Name())
		if path != folder && aNote(name) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.IsDir() && slices.Contains(dataNames, filepath.Ext(strings.TrimSuffix(name, ".gz"))) {
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = &tablefile.FileError{File: folder, Problem: "is a folder without data files", Hint: "their names end in " + strings.Join(dataNames, ", ") + ", or in these and .gz"}
	}
	return files, err
}

// listed are the files that a list names.
func listed(list string) (files []string, err error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		path := strings.TrimSpace(lines.Text())
		switch {
		case path == "":
		case filepath.IsAbs(path):
			files = append(files, path)
		default:
			files = append(files, filepath.Join(filepath.Dir(list), path))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, &tablefile.FileError{File: list, Problem: "lists no file", Hint: "write a path in each line"}
	}
	return files, nil
}
