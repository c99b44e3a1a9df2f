package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

const (
	rbdApplication      = "rbd"
	poolParameter       = "pool"
	dataPoolParameter   = "dataPool"
	mapOptionsParameter = "mapOptions"
	featuresParameter   = "imageFeatures"
	poolField           = "in spec.driverConfig.ceph.pool of ClusterCSIDriver " + rbdName
	poolAdvice          = "name a pool " + poolField
	otherPoolAdvice     = "name another pool " + poolField
)

// images is the Storage of RBD: images in a pool.
type images struct{}

// Place takes the wished pool, else the own one, which it creates when missing; where the
// user may not create pools, the only pool of application rbd.
func (images) Place(ctx context.Context, cluster Ceph, wish Wish) (ceph.Placement, error) {
	pools, err := cluster.Pools(ctx)
	if err != nil {
		return ceph.Placement{}, err
	}
	if err := checkDataPool(pools, wish.DataPool); err != nil {
		return ceph.Placement{}, err
	}
	place := ceph.Placement{FSID: wish.FSID, Pool: wish.Pool, DataPool: wish.DataPool}
	if wish.Pool != "" && wish.Pool != wish.Own {
		if _, found := poolOf(pools, wish.Pool); wish.Create && !found {
			return place, ensureOwnPool(ctx, cluster, pools, wish.Pool)
		}
		return place, checkWished(pools, wish)
	}
	place.Pool = wish.Own
	err = ensureOwnPool(ctx, cluster, pools, wish.Own)
	if !errors.Is(err, ceph.ErrDenied) {
		return place, err
	}
	if wish.Pool == wish.Own {
		return place, fmt.Errorf("%w; an administrator can: %s", err, creation(wish.Own))
	}
	place.Pool, err = onlyPool(pools, wish.Own, err)
	return place, err
}

// Parameters has no dataPool: snapshots know none, and the StorageClass adds it by itself.
func (images) Parameters(place ceph.Placement) map[string]string {
	return map[string]string{clusterIDParameter: place.FSID, poolParameter: place.Pool}
}

func (images) KernelOptions(parameters map[string]string, _ Settings) string {
	return parameters[mapOptionsParameter]
}

func (images) Options(s Settings) map[string]string {
	return withoutEmpty(map[string]string{
		featuresParameter: s.ImageFeatures, mounterParameter: s.Mounter, mapOptionsParameter: s.MapOptions,
	})
}

func (images) FromParameters(parameters map[string]string) ceph.Placement {
	return ceph.Placement{
		FSID:     parameters[clusterIDParameter],
		Pool:     parameters[poolParameter],
		DataPool: parameters[dataPoolParameter],
	}
}

// checkWished accepts a replicated pool that is used for nothing but rbd.
func checkWished(pools []ceph.Pool, wish Wish) error {
	pool, found := poolOf(pools, wish.Pool)
	if !found {
		return fmt.Errorf("%w: pool %q, named by %s, does not exist; pools of application rbd: %s; create it in Ceph, set spec.driverConfig.ceph.missingPools to Create, or %s",
			ErrNoPool, wish.Pool, wish.Origin, quoted(namesOf(rbdPools(pools))), otherPoolAdvice)
	}
	if pool.ErasureCoded {
		return fmt.Errorf("%w: pool %q, named by %s, is erasure-coded and cannot hold the metadata of images; %s and this one in dataPool beside it",
			ErrNoPool, wish.Pool, wish.Origin, otherPoolAdvice)
	}
	return checkApplication(pool, "named by "+wish.Origin)
}

func checkApplication(pool ceph.Pool, whose string) error {
	if !ofOthers(pool) {
		return nil
	}
	return fmt.Errorf("%w: pool %q, %s, belongs to application %s; %s",
		ErrNoPool, pool.Name, whose, strings.Join(pool.Applications, ", "), otherPoolAdvice)
}

// ofOthers says that what is in a pool, or is to come there, is not images.
func ofOthers(pool ceph.Pool) bool {
	return len(pool.Applications) > 0 && !slices.Contains(pool.Applications, rbdApplication)
}

func checkDataPool(pools []ceph.Pool, name string) error {
	pool, found := poolOf(pools, name)
	switch {
	case name == "":
		return nil
	case found && ofOthers(pool):
		return fmt.Errorf("%w: data pool %q belongs to application %s; name another in spec.driverConfig.ceph.dataPool of ClusterCSIDriver %s",
			ErrNoPool, name, strings.Join(pool.Applications, ", "), rbdName)
	case found:
		return nil
	}
	return fmt.Errorf("%w: data pool %q does not exist; pools: %s; create it in Ceph, or name another in spec.driverConfig.ceph.dataPool of ClusterCSIDriver %s, or a pool in ceph.pool without one",
		ErrNoPool, name, quoted(namesOf(pools)), rbdName)
}

// ensureOwnPool finishes what an earlier run may have left half done: each write costs
// every client of the Ceph cluster an epoch of the osdmap.
func ensureOwnPool(ctx context.Context, cluster Ceph, pools []ceph.Pool, name string) error {
	pool, found := poolOf(pools, name)
	if !found {
		if err := cluster.CreatePool(ctx, name); err != nil {
			return err
		}
	}
	if err := checkApplication(pool, "the operator's own"); err != nil {
		return err
	}
	if slices.Contains(pool.Applications, rbdApplication) {
		return nil
	}
	return cluster.EnableApplication(ctx, name, rbdApplication)
}

// onlyPool is the choice where no pool may be created.
func onlyPool(pools []ceph.Pool, own string, denied error) (string, error) {
	candidates := rbdPools(pools)
	if len(candidates) == 1 {
		return candidates[0].Name, nil
	}
	return "", fmt.Errorf("%w: %v; pools of application rbd: %s; %s, or create one: %s",
		ErrNoPool, denied, quoted(namesOf(candidates)), poolAdvice, creation(own))
}

// creation is what an administrator runs to make a pool for images.
func creation(pool string) string {
	pool = shell.Quote(pool)
	return fmt.Sprintf("ceph osd pool create %s && ceph osd pool application enable %s %s", pool, pool, rbdApplication)
}

func rbdPools(pools []ceph.Pool) []ceph.Pool {
	return slices.DeleteFunc(slices.Clone(pools), func(p ceph.Pool) bool {
		return p.ErasureCoded || !slices.Contains(p.Applications, rbdApplication)
	})
}

func poolOf(pools []ceph.Pool, name string) (ceph.Pool, bool) {
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.Name == name })
	if i < 0 {
		return ceph.Pool{}, false
	}
	return pools[i], true
}

func namesOf(pools []ceph.Pool) []string {
	names := make([]string, 0, len(pools))
	for _, p := range pools {
		names = append(names, p.Name)
	}
	return names
}
