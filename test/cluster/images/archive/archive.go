// Package archive writes images as archives that `ctr images import`, podman and docker load. The
// same files make the same archive.
package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Image is one image with its name.
type Image struct {
	Name string
	// User is a number, or empty for root.
	User       string
	Entrypoint []string
	Env        []string
	// Layers may share paths: a later one's file counts.
	Layers [][]Entry
}

// Entry is one path of a layer. It is a file of this machine when Source is set, a link when Link
// is, a folder when Mode says so, and else a file with Content.
type Entry struct {
	Path, Source, Link string
	Content            []byte
	Mode               os.FileMode
}

type config struct {
	Architecture string     `json:"architecture"`
	OS           string     `json:"os"`
	Created      string     `json:"created"`
	Config       runConfig  `json:"config"`
	RootFS       rootFS     `json:"rootfs"`
	History      []creation `json:"history"`
}

type runConfig struct {
	User       string   `json:"User,omitempty"`
	Env        []string `json:"Env,omitempty"`
	Entrypoint []string `json:"Entrypoint,omitempty"`
	WorkingDir string   `json:"WorkingDir,omitempty"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type creation struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// manifest is the entry of an archive's manifest.json.
type manifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

const (
	manifestFile = "manifest.json"
	epoch        = "1970-01-01T00:00:00Z"
)

// Write writes the image. scratch is a folder for a layer at a time.
func Write(w io.Writer, image Image, scratch string) error {
	out := tar.NewWriter(w)
	conf := config{
		Architecture: runtime.GOARCH, OS: "linux", Created: epoch,
		Config: runConfig{User: image.User, Env: image.Env, Entrypoint: image.Entrypoint, WorkingDir: "/"},
		RootFS: rootFS{Type: "layers"},
	}
	m := manifest{RepoTags: []string{image.Name}}
	for _, entries := range image.Layers {
		digest, err := addLayer(out, entries, scratch)
		if err != nil {
			return fmt.Errorf("image %s: %w", image.Name, err)
		}
		conf.RootFS.DiffIDs = append(conf.RootFS.DiffIDs, "sha256:"+digest)
		conf.History = append(conf.History, creation{Created: epoch, CreatedBy: "test/cluster/images"})
		m.Layers = append(m.Layers, layerFile(digest))
	}
	content, err := json.Marshal(conf)
	if err != nil {
		return err
	}
	m.Config = fmt.Sprintf("%x.json", sha256.Sum256(content))
	list, err := json.Marshal([]manifest{m})
	if err != nil {
		return err
	}
	return errors.Join(addFile(out, m.Config, content), addFile(out, manifestFile, list), out.Close())
}

func layerFile(digest string) string { return digest + "/layer.tar" }

func addFile(out *tar.Writer, name string, content []byte) error {
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := out.Write(content)
	return err
}

// addLayer returns the digest of the layer that it adds.
func addLayer(out *tar.Writer, entries []Entry, scratch string) (string, error) {
	file, err := os.CreateTemp(scratch, "layer-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	hash := sha256.New()
	if err := writeLayer(io.MultiWriter(file, hash), entries); err != nil {
		return "", err
	}
	digest := hex.EncodeToString(hash.Sum(nil))
	size, err := file.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = out.WriteHeader(&tar.Header{Name: layerFile(digest), Mode: 0o644, Size: size})
	}
	if err == nil {
		_, err = io.Copy(out, file)
	}
	return digest, err
}

func writeLayer(w io.Writer, entries []Entry) error {
	out := tar.NewWriter(w)
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	folders := map[string]bool{"/": true}
	for _, e := range sorted {
		folders[e.Path] = true
	}
	for i, e := range sorted {
		if i > 0 && sorted[i-1].Path == e.Path {
			continue
		}
		if err := addParents(out, e.Path, folders); err != nil {
			return err
		}
		if err := addEntry(out, e); err != nil {
			return fmt.Errorf("adding %s: %w", e.Path, err)
		}
	}
	return out.Close()
}

func addParents(out *tar.Writer, name string, known map[string]bool) error {
	dir := path.Dir(name)
	if known[dir] {
		return nil
	}
	known[dir] = true
	return errors.Join(addParents(out, dir, known), out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: inside(dir) + "/", Mode: 0o755}))
}

func inside(name string) string { return strings.TrimPrefix(name, "/") }

func addEntry(out *tar.Writer, e Entry) error {
	header := &tar.Header{Name: inside(e.Path), Mode: int64(e.Mode.Perm()), Size: int64(len(e.Content))}
	switch {
	case e.Source != "":
		return addSource(out, header, e)
	case e.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, e.Link, 0o777
	case e.Mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
		if e.Mode&os.ModeSticky != 0 {
			header.Mode |= 0o1000
		}
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := out.Write(e.Content)
	return err
}

func addSource(out *tar.Writer, header *tar.Header, e Entry) error {
	file, err := os.Open(e.Source)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header.Size, header.Mode = info.Size(), int64(info.Mode().Perm())
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}
