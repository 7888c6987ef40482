// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

// Package session runs OrcaSessions. A reconcile observes everything that
// bears on one session (IO), judges it (pure), carries out what follows (IO)
// and writes the status if it changed. The judgement depends on what is there
// and on nothing that an earlier reconcile remembered outside the status.
package session
