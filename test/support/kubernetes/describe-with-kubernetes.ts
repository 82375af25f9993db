// Runs tests that need a real control plane, or reports that there is none.

import { availableWhenBuilt } from '../availability.ts'
import { buildKube } from './build-kube.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts'
import { describeWithReal } from './describe-with-real.ts'
import { findPrograms, kubeAvailability } from './kube-recipe.ts'

/** For a test that restarts a control plane: it takes seconds, on a busy machine more. */
export const RESTART_MS = 180_000

/**
 * One control plane for all tests of the body: up in `beforeAll`, gone in `afterAll`.
 *
 * @example
 * await describeWithKubernetes('a watch', (plane) => {
 *   it('…', async () => { await plane().apply(objects) })
 * })
 */
export const describeWithKubernetes = (
  name: string,
  body: (plane: () => ControlPlane) => void,
  options: ControlPlaneOptions = {},
): Promise<void> => {
  const wanted = { whole: options.scheduler ?? false }
  return describeWithReal(
    name,
    {
      what: 'Kubernetes',
      availability: () =>
        availableWhenBuilt('Kubernetes', findPrograms(wanted) !== undefined, () =>
          kubeAvailability(wanted),
        ),
      build: () => buildKube(wanted),
      start: () => startControlPlane(options),
      patienceMs: RESTART_MS,
    },
    body,
  )
}
