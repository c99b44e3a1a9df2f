package operator

import (
	"context"
	"path"
	"strings"
	"sync"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
)

// roleAssets starts the names of static assets that are roles.
const roleAssets = "10_"

// rolesFirst applies the roles of a first installation at once, before inner applies
// everything in order. The API server takes about 0.1 seconds for each, to compare its rules
// with the operator's own; one after the other, they would be most of an installation.
type rolesFirst struct {
	inner    factory.SyncFunc
	operator v1helpers.OperatorClient
	// installed says that they were applied before.
	installed func() (bool, error)
	files     []string
	// apply applies one file; inner reports what fails.
	apply func(ctx context.Context, syncCtx factory.SyncContext, file string)
}

func (r rolesFirst) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	spec, _, _, err := r.operator.GetOperatorState()
	if err != nil {
		return err
	}
	installed, err := r.installed()
	if err != nil {
		return err
	}
	if spec.ManagementState == operatorv1.Managed && !installed {
		var all sync.WaitGroup
		for _, file := range r.files {
			if strings.HasPrefix(path.Base(file), roleAssets) {
				all.Go(func() { r.apply(ctx, syncCtx, file) })
			}
		}
		all.Wait()
	}
	return r.inner(ctx, syncCtx)
}

// applyDirectly applies an asset as library-go's static controller does.
func applyDirectly(clients *resourceapply.ClientHolder, asset resourceapply.AssetFunc) func(context.Context, factory.SyncContext, string) {
	return func(ctx context.Context, syncCtx factory.SyncContext, file string) {
		resourceapply.ApplyDirectly(ctx, clients, syncCtx.Recorder(), resourceapply.NewResourceCache(), asset, file)
	}
}
