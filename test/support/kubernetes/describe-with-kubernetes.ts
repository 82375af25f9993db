// Tests that need a real control plane come in; they are run with one, or their absence is told of, never silently
// left out: with REQUIRE_REAL=1 it is a failure.

import * as jest from '@jest/globals'
import { type Availability, isRealRequired } from '../routers/recipe.ts'
import { buildKube } from './build-kube.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts'
import { kubeAvailability } from './kube-recipe.ts'

/** For a test that restarts a control plane: it takes seconds, on a busy machine more. */
export const RESTART_MS = 180_000

/**
 * One control plane for all tests of the body: up in `beforeAll`, gone in `afterAll`. It is built here, before any
 * test runs, as that takes longer than a test may.
 *
 * @example
 * await describeWithKubernetes('a watch', (plane) => {
 *   it('…', async () => { await plane().apply(objects) })
 * })
 */
export const describeWithKubernetes = async (
  name: string,
  body: (plane: () => ControlPlane) => void,
  options: ControlPlaneOptions = {},
): Promise<void> => {
  const availability = await obtain()
  jest.describe(name, () => {
    if (availability.available) withControlPlane(body, options)
    else tellOfAbsence(availability.why)
  })
}

const withControlPlane = (
  body: (plane: () => ControlPlane) => void,
  options: ControlPlaneOptions,
): void => {
  let plane: ControlPlane | undefined
  jest.beforeAll(async () => {
    plane = await startControlPlane(options)
  }, RESTART_MS)
  body(() => {
    if (plane === undefined) throw new Error('the control plane is up in tests and hooks only')
    return plane
  })
  // Hooks run in the order they were given in: those of the body still have a control plane.
  jest.afterAll(async () => {
    await plane?.[Symbol.asyncDispose]()
  }, RESTART_MS)
}

const tellOfAbsence = (why: string): void => {
  jest.it(`not tested here: ${why}`, () => {
    process.stderr.write(`Kubernetes is not tested here: ${why}\n`)
    jest.expect({ isRequired: isRealRequired() }).toEqual({ isRequired: false })
  })
}

const obtain = async (): Promise<Availability> => {
  const availability = kubeAvailability()
  if (!availability.available) return availability
  try {
    await buildKube()
    return { available: true }
  } catch (error) {
    return { available: false, why: error instanceof Error ? error.message : String(error) }
  }
}
