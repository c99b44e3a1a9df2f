//go:build cgo

package rados

import "github.com/ceph/go-ceph/rados"

// tune sets what a librados without the option is none the worse for.
func tune(conn *rados.Conn, options Options) {
	// Each mon that goes makes librados look for another one at longer intervals, up to 30 s: too
	// long where mons are replaced one by one.
	_ = conn.SetConfigOption("mon_client_hunt_interval_max_multiple", "1")
	if options.Calls > maxCalls {
		return
	}
	// glibc gives each thread memory of its own to allocate from: with 3 and 2 of them, a process
	// with two connections had 1 MB more.
	_ = conn.SetConfigOption("ms_async_op_threads", "1")
	_ = conn.SetConfigOption("librados_thread_count", "1")
}
