package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Reach connects to an address and reads what a mon says first, before any key is exchanged.
// That tells a closed port, a firewall, a hung mon and a wrong protocol apart.
func Reach(ctx context.Context, address ceph.Address) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address.HostPort())
	if err != nil {
		return unreachable(err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetReadDeadline(deadline); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	said := make([]byte, ceph.BannerLength)
	if _, err := io.ReadFull(conn, said); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
			return errors.New("the port accepts connections and says nothing: the mon hangs, or something between drops the traffic")
		}
		return fmt.Errorf("the port accepts connections and ends them: %w", err)
	}
	protocol, err := ceph.ParseBanner(said)
	if err != nil {
		return err
	}
	if address.Protocol != ceph.Any && address.Protocol != protocol {
		return fmt.Errorf("the mon speaks %s here, not %s", protocol, address.Protocol)
	}
	return nil
}

func unreachable(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nobody listens: the mon does not run")
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no answer: the host is down, or a firewall is between")
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	return fmt.Errorf("no connection: %w", err)
}
