// Package capabilities words what a CSI driver says that it can do.
package capabilities

import "github.com/container-storage-interface/spec/lib/go/csi"

// Controller is the answer of a controller that can all of these.
func Controller(all ...csi.ControllerServiceCapability_RPC_Type) *csi.ControllerGetCapabilitiesResponse {
	answer := &csi.ControllerGetCapabilitiesResponse{}
	for _, can := range all {
		answer.Capabilities = append(answer.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: can}},
		})
	}
	return answer
}

// Node is the answer of a node plugin that can all of these.
func Node(all ...csi.NodeServiceCapability_RPC_Type) *csi.NodeGetCapabilitiesResponse {
	answer := &csi.NodeGetCapabilitiesResponse{}
	for _, can := range all {
		answer.Capabilities = append(answer.Capabilities, &csi.NodeServiceCapability{
			Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: can}},
		})
	}
	return answer
}

// Groups is the answer of a controller that takes snapshots of groups of volumes.
func Groups() *csi.GroupControllerGetCapabilitiesResponse {
	return &csi.GroupControllerGetCapabilitiesResponse{Capabilities: []*csi.GroupControllerServiceCapability{{
		Type: &csi.GroupControllerServiceCapability_Rpc{Rpc: &csi.GroupControllerServiceCapability_RPC{
			Type: csi.GroupControllerServiceCapability_RPC_CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT,
		}},
	}}}
}
