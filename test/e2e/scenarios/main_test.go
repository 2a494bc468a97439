// Package scenarios has the end-to-end scenarios, one file each. Package suite says how they are
// written.
package scenarios

import (
	"testing"

	"headgate/e2e/suite"
)

func TestMain(m *testing.M) {
	suite.Main(m)
}
