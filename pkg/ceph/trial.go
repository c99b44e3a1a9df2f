package ceph

import (
	"strings"
	"syscall"
)

// nowhere names what no Ceph cluster has: a filesystem, a pool, an image.
const nowhere = "csi-rights-check"

// Trial is a command with arguments that Ceph must refuse. It checks the user's caps before
// the arguments: so sending a Trial changes nothing and tells whether the user may send the
// command. A user cannot simply ask for its own caps.
type Trial struct {
	// Prefix is the command.
	Prefix string
	// Manager says that the mgr is asked, not the mons.
	Manager bool
	// Arguments of the command, beside its prefix.
	Arguments map[string]string
	// Caps are additional arguments that are lists.
	Caps []string
	// Refusal is what Ceph answers to a user who may send the command.
	Refusal syscall.Errno
}

// What the mons are asked. Refusals were seen with Ceph 16.2.15.
var (
	TryGetUser = Trial{Prefix: "auth get", Refusal: syscall.ENOENT,
		Arguments: map[string]string{"entity": "client." + nowhere}}
	TryMakeUser = Trial{Prefix: "auth get-or-create", Refusal: syscall.EINVAL,
		Arguments: map[string]string{"entity": "client." + nowhere}, Caps: []string{"nothing", "allow r"}}
	TrySetCaps = Trial{Prefix: "auth caps", Refusal: syscall.ENOENT,
		Arguments: map[string]string{"entity": "client." + nowhere}, Caps: []string{"nothing", "allow r"}}
	// TryBlocklist has an address of the form that "profile rbd" allows.
	TryBlocklist = Trial{Prefix: "osd blocklist", Refusal: syscall.EINVAL,
		Arguments: map[string]string{"blocklistop": "add", "addr": "nowhere/1"}}
	TryCreatePool = Trial{Prefix: "osd pool create", Refusal: syscall.EINVAL,
		Arguments: map[string]string{"pool": ""}}
	TryEnableApplication = Trial{Prefix: "osd pool application enable", Refusal: syscall.ENOENT,
		Arguments: map[string]string{"pool": nowhere, "app": "rbd"}}
	TrySetApplication = Trial{Prefix: "osd pool application set", Refusal: syscall.ENOENT,
		Arguments: map[string]string{"pool": nowhere, "app": "rbd", "key": nowhere, "value": nowhere}}
	TryProtectPool = Trial{Prefix: "osd pool set", Refusal: syscall.ENOENT,
		Arguments: map[string]string{"pool": nowhere, "var": "nodelete", "val": "true"}}
)

// What the mgr is asked.
var (
	TryMakeGroup = Trial{Prefix: "fs subvolumegroup create", Manager: true, Refusal: syscall.ENOENT,
		Arguments: map[string]string{"vol_name": nowhere, "group_name": nowhere}}
	TryMakeSubvolume = Trial{Prefix: "fs subvolume create", Manager: true, Refusal: syscall.ENOENT,
		Arguments: map[string]string{"vol_name": nowhere, "sub_name": nowhere}}
)

// TryUsers are of the commands by which keys are read and users are made, changed or removed. Caps may be limited to users
// whose names begin alike: so each is tried on names as the drivers' users have and as the user's own begins with, which
// nobody has. Reading and rotating asks for who is there, writing refuses a service without its caps before it looks, and a
// list does a name that cannot be one.
func TryUsers(user string) []Trial {
	out := []Trial{{Prefix: "auth ls", Refusal: syscall.EINVAL, Arguments: map[string]string{"entity": nowhere}}}
	entities := []string{"client." + nowhere}
	if !strings.HasPrefix(user, "client.csi-") {
		entities = append(entities, user+"-"+nowhere)
	}
	for _, entity := range entities {
		for _, prefix := range []string{"auth get", "auth get-key", "auth print-key", "auth export", "auth rotate", "auth get-or-create-pending"} {
			out = append(out, Trial{Prefix: prefix, Refusal: syscall.ENOENT, Arguments: map[string]string{"entity": entity}})
		}
		for _, prefix := range []string{"auth get-or-create", "auth caps", "auth get-or-create-key", "auth add", "auth import", "auth rm", "auth del", "fs authorize"} {
			out = append(out, Trial{Prefix: prefix, Refusal: syscall.EINVAL,
				Arguments: map[string]string{"entity": entity, "filesystem": nowhere}, Caps: []string{"nothing"}})
		}
	}
	return out
}

// TryFlatten asks for a task on an image of a pool that exists, because caps can be limited
// to pools.
func TryFlatten(pool string) Trial {
	return Trial{Prefix: "rbd task add flatten", Manager: true, Refusal: syscall.ENOENT,
		Arguments: map[string]string{"image_spec": pool + "/" + nowhere}}
}

// TryProtect asks for a value that the flag of a pool cannot have. The pool must exist, because caps can be limited to
// pools.
func TryProtect(pool string) Trial {
	return Trial{Prefix: "osd pool set", Refusal: syscall.EINVAL,
		Arguments: map[string]string{"pool": pool, "var": "nodelete", "val": nowhere}}
}

// ObjectRights are what a user may do with the objects of a pool.
type ObjectRights struct{ Read, Write bool }
