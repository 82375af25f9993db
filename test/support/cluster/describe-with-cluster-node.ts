// Runs tests that need a whole cluster, or reports that there is none.

import { availableWhenBuilt } from '../availability.ts'
import { describeWithReal } from '../kubernetes/describe-with-real.ts'
import { buildNode } from './build-node.ts'
import { type ClusterNode, type ClusterNodeOptions, startClusterNode } from './cluster-node.ts'
import { clusterAvailability, isNodeBuilt } from './node-recipe.ts'

/** For what builds images or rolls pods: seconds on a quiet machine, minutes the first time. */
export const ROLLOUT_MS = 600_000

/**
 * One cluster for all tests of the body: up in `beforeAll`, gone in `afterAll`.
 *
 * @example
 * await describeWithClusterNode('a rollout', (cluster) => {
 *   beforeAll(() => loadClusterImages(cluster(), 'echo'), ROLLOUT_MS)
 *   it('…', async () => { await cluster().helm(['install', …]) }, ROLLOUT_MS)
 * })
 */
export const describeWithClusterNode = (
  name: string,
  body: (cluster: () => ClusterNode) => void,
  options: ClusterNodeOptions = {},
): Promise<void> =>
  describeWithReal(
    name,
    {
      what: 'A cluster',
      availability: () => availableWhenBuilt('a node', isNodeBuilt(), clusterAvailability),
      build: buildNode,
      start: () => startClusterNode(options),
      patienceMs: ROLLOUT_MS,
    },
    body,
  )
