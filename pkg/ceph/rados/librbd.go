//go:build cgo

package rados

// librbd is loaded when the first image is to be changed, not linked: the operators, which never
// change one, would pay for it with private memory and start-up time. The declarations are those of
// rbd/librbd.h, whose functions keep their signatures within librbd.so.1.

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { char *addr; int64_t id; uint64_t cookie; } watcher_t;

static struct {
	int (*trash_move)(void *io, const char *name, uint64_t delay);
	int (*trash_remove)(void *io, const char *id, bool force);
	int (*open_by_id)(void *io, const char *id, void **image, const char *snap);
	int (*open_by_id_read_only)(void *io, const char *id, void **image, const char *snap);
	int (*close)(void *image);
	int (*snap_remove)(void *image, const char *snap);
	int (*snap_unprotect)(void *image, const char *snap);
	int (*metadata_set)(void *image, const char *key, const char *value);
	int (*watchers_list)(void *image, watcher_t *watchers, size_t *max);
	void (*watchers_list_cleanup)(watcher_t *watchers, size_t n);
	int (*group_snap_remove)(void *io, const char *group, const char *snap);
	int (*group_image_remove_by_id)(void *io, const char *group, void *image_io, const char *id);
	int (*group_remove)(void *io, const char *group);
} rbd;

// rbd_load returns what is wrong, or NULL.
static const char *rbd_load(void) {
	void *library = dlopen("librbd.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
#define FIND(name) if (!(*(void **)&rbd.name = dlsym(library, "rbd_" #name))) return dlerror()
	FIND(trash_move);
	FIND(trash_remove);
	FIND(open_by_id);
	FIND(open_by_id_read_only);
	FIND(close);
	FIND(snap_remove);
	FIND(snap_unprotect);
	FIND(metadata_set);
	FIND(watchers_list);
	FIND(watchers_list_cleanup);
	FIND(group_snap_remove);
	FIND(group_image_remove_by_id);
	FIND(group_remove);
	return NULL;
}

static int call_trash_move(void *io, const char *name) { return rbd.trash_move(io, name, 0); }
static int call_trash_remove(void *io, const char *id) { return rbd.trash_remove(io, id, true); }
static int call_open(void *io, const char *id, void **image) { return rbd.open_by_id(io, id, image, NULL); }
static int call_open_read_only(void *io, const char *id, void **image) { return rbd.open_by_id_read_only(io, id, image, NULL); }
static int call_close(void *image) { return rbd.close(image); }
static int call_snap_remove(void *image, const char *snap) { return rbd.snap_remove(image, snap); }
static int call_snap_unprotect(void *image, const char *snap) { return rbd.snap_unprotect(image, snap); }
static int call_metadata_set(void *image, const char *key, const char *value) { return rbd.metadata_set(image, key, value); }
static int call_watchers_list(void *image, watcher_t *w, size_t *n) { return rbd.watchers_list(image, w, n); }
static void call_watchers_cleanup(watcher_t *w, size_t n) { rbd.watchers_list_cleanup(w, n); }
static int call_group_snap_remove(void *io, const char *group, const char *snap) { return rbd.group_snap_remove(io, group, snap); }
static int call_group_image_remove(void *io, const char *group, void *image_io, const char *id) {
	return rbd.group_image_remove_by_id(io, group, image_io, id);
}
static int call_group_remove(void *io, const char *group) { return rbd.group_remove(io, group); }
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// loadLibrbd says what to install where librbd is missing.
var loadLibrbd = sync.OnceValue(func() error {
	if fault := C.rbd_load(); fault != nil {
		return fmt.Errorf("loading librbd, which comes with the distribution's package librbd1: %s", C.GoString(fault))
	}
	return nil
})

// LoadLibrbd tells before anything is done whether images can be changed.
func LoadLibrbd() error { return loadLibrbd() }

// librbdCall calls functions of librbd's with texts as arguments.
func librbdCall(what string, work func(text func(string) *C.char) C.int) error {
	if err := loadLibrbd(); err != nil {
		return err
	}
	var allocated []*C.char
	defer func() {
		for _, text := range allocated {
			C.free(unsafe.Pointer(text))
		}
	}()
	code := work(func(text string) *C.char {
		allocated = append(allocated, C.CString(text))
		return allocated[len(allocated)-1]
	})
	if code < 0 {
		return &ceph.CommandError{Command: what, Errno: int(code)}
	}
	return nil
}

// trashMove moves an image to the trash, by its name.
func trashMove(io *rados.IOContext, name string) error {
	return librbdCall("rbd trash mv", func(text func(string) *C.char) C.int { return C.call_trash_move(io.Pointer(), text(name)) })
}

// trashRemove removes an image from the trash, by its ID.
func trashRemove(io *rados.IOContext, id string) error {
	return librbdCall("rbd trash rm", func(text func(string) *C.char) C.int { return C.call_trash_remove(io.Pointer(), text(id)) })
}

func groupSnapshotRemove(io *rados.IOContext, group, snapshot string) error {
	return librbdCall("rbd group snap rm", func(text func(string) *C.char) C.int {
		return C.call_group_snap_remove(io.Pointer(), text(group), text(snapshot))
	})
}

// groupImageRemove takes an image out of a group, by its ID; it may be in another place.
func groupImageRemove(io *rados.IOContext, group string, image *rados.IOContext, id string) error {
	return librbdCall("rbd group image rm", func(text func(string) *C.char) C.int {
		return C.call_group_image_remove(io.Pointer(), text(group), image.Pointer(), text(id))
	})
}

func groupRemove(io *rados.IOContext, group string) error {
	return librbdCall("rbd group rm", func(text func(string) *C.char) C.int { return C.call_group_remove(io.Pointer(), text(group)) })
}

// openedImage is an image that librbd has open.
type openedImage struct{ handle unsafe.Pointer }

// withImage opens an image by its ID, in the trash or not, and closes it after work.
func withImage(io *rados.IOContext, id string, readOnly bool, work func(openedImage) error) error {
	var image openedImage
	err := librbdCall("rbd open", func(text func(string) *C.char) C.int {
		if readOnly {
			return C.call_open_read_only(io.Pointer(), text(id), &image.handle)
		}
		return C.call_open(io.Pointer(), text(id), &image.handle)
	})
	if err != nil {
		return err
	}
	err = work(image)
	closed := librbdCall("rbd close", func(func(string) *C.char) C.int { return C.call_close(image.handle) })
	return errors.Join(err, closed)
}

func (i openedImage) removeSnapshot(name string) error {
	return librbdCall("rbd snap rm", func(text func(string) *C.char) C.int { return C.call_snap_remove(i.handle, text(name)) })
}

func (i openedImage) unprotect(name string) error {
	return librbdCall("rbd snap unprotect", func(text func(string) *C.char) C.int { return C.call_snap_unprotect(i.handle, text(name)) })
}

func (i openedImage) setMetadata(key, value string) error {
	return librbdCall("rbd image-meta set", func(text func(string) *C.char) C.int {
		return C.call_metadata_set(i.handle, text(key), text(value))
	})
}

// watchers are the addresses of those who watch the image. Who reads does not watch.
func (i openedImage) watchers() ([]string, error) {
	const room = 64 // A shared volume may be mapped on many nodes; the first ones tell enough.
	found := make([]C.watcher_t, room)
	n := C.size_t(room)
	err := librbdCall("rbd watchers", func(func(string) *C.char) C.int { return C.call_watchers_list(i.handle, &found[0], &n) })
	if ceph.Errno(err) == syscall.ERANGE {
		return []string{fmt.Sprintf("%d clients", n)}, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range found[:n] {
		out = append(out, C.GoString(w.addr))
	}
	C.call_watchers_cleanup(&found[0], n)
	return out, nil
}
