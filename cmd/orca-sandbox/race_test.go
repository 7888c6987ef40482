// Copyright The Orca Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package main

// raceDetector tells whether the tests run with the race detector.
const raceDetector = true
