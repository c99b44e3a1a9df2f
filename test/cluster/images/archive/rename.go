package archive

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	indexFile = "index.json"
	// The name of an image in an OCI archive, for containerd and for others.
	containerdName = "io.containerd.image.name"
	ociName        = "org.opencontainers.image.ref.name"
)

var errNoImage = errors.New("neither manifest.json nor index.json is in it: save the image with `podman save` or `docker save`, without compression")

// Rename copies an archive of one image, of docker's or OCI's form, and gives the image a name.
func Rename(w io.Writer, r io.Reader, name string) error {
	in, out := tar.NewReader(r), tar.NewWriter(w)
	found := false
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		renamed, known := renamers[header.Name]
		found = found || known
		if known {
			err = replace(out, in, header, name, renamed)
		} else if err = out.WriteHeader(header); err == nil {
			_, err = io.Copy(out, in)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	if !found {
		return errNoImage
	}
	return out.Close()
}

var renamers = map[string]func(content []byte, name string) ([]byte, error){
	manifestFile: renameManifest,
	indexFile:    renameIndex,
}

func replace(out *tar.Writer, in io.Reader, header *tar.Header, name string, renamed func([]byte, string) ([]byte, error)) error {
	content, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if content, err = renamed(content, name); err != nil {
		return err
	}
	return addFile(out, header.Name, content)
}

func renameManifest(content []byte, name string) ([]byte, error) {
	var images []map[string]any
	if err := json.Unmarshal(content, &images); err != nil {
		return nil, err
	}
	if len(images) != 1 {
		return nil, fmt.Errorf("%d images instead of one", len(images))
	}
	images[0]["RepoTags"] = []string{name}
	return json.Marshal(images)
}

func renameIndex(content []byte, name string) ([]byte, error) {
	var index map[string]any
	if err := json.Unmarshal(content, &index); err != nil {
		return nil, err
	}
	manifests, _ := index["manifests"].([]any)
	if len(manifests) != 1 {
		return nil, fmt.Errorf("%d images instead of one", len(manifests))
	}
	image, ok := manifests[0].(map[string]any)
	if !ok {
		return nil, errors.New("not an index of images")
	}
	image["annotations"] = map[string]string{containerdName: name, ociName: name}
	return json.Marshal(index)
}
