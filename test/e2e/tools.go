//go:build tools

package e2e

import _ "sigs.k8s.io/kwok/cmd/kwok"
