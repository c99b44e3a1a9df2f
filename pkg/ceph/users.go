package ceph

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// clientPrefix starts the names of the cephx users that are no daemons.
const clientPrefix = "client."

// Entity is the name by which Ceph knows a user.
func (c Credentials) Entity() string { return clientPrefix + c.UserID }

// ParseUserIDs reads the JSON of `ceph auth ls`: the names of all users that are no daemons, without
// "client.". It reads nothing else of them, least of all their keys; errors do not quote it.
func ParseUserIDs(data []byte) ([]string, error) {
	var list struct {
		Dump []struct {
			Entity string `json:"entity"`
		} `json:"auth_dump"`
	}
	if json.Unmarshal(data, &list) != nil || len(list.Dump) == 0 {
		return nil, errors.New("the list of users is not JSON with auth_dump")
	}
	var ids []string
	for _, u := range list.Dump {
		if id, isClient := strings.CutPrefix(u.Entity, clientPrefix); isClient {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ParseUser reads the JSON of `ceph auth get` and `ceph auth get-or-create`: one user. Errors
// do not quote it.
func ParseUser(data []byte) (User, error) {
	var list []struct {
		Entity string `json:"entity"`
		Key    string `json:"key"`
		Caps   struct {
			Mon string `json:"mon"`
			Mgr string `json:"mgr"`
			OSD string `json:"osd"`
			MDS string `json:"mds"`
		} `json:"caps"`
	}
	if json.Unmarshal(data, &list) != nil || len(list) != 1 {
		return User{}, errors.New("the description of the user is not a JSON list of one")
	}
	id, isClient := strings.CutPrefix(list[0].Entity, clientPrefix)
	if !isClient {
		return User{}, errors.New("the description of the user names another kind of user")
	}
	key, err := ParseKey(list[0].Key)
	if err != nil {
		return User{}, fmt.Errorf("user %s: %w", quote(list[0].Entity), err)
	}
	return User{Credentials: Credentials{UserID: id, Key: key}, Caps: Caps(list[0].Caps)}, nil
}
