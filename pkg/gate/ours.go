package gate

import storagev1 "k8s.io/api/storage/v1"

// Ours says whether a CSIDriver was applied from our assets.
func Ours(csiDriver *storagev1.CSIDriver) bool { return ours(csiDriver) }
