// Runs the tutorials of a cluster, line by line: a real API server and kubectl, an operator with the rights of its
// account, two gateways. Only the tunnel to the gateways is missing, as there are no nodes.

import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import { findPrograms } from '../../support/kubernetes/kube-recipe.ts'
import { textOf } from '../../support/pages.ts'
import { runTutorial, stepsOf } from '../../support/tutorial.ts'
import { Home } from './home.ts'

const ROOT = join(import.meta.dirname, '../../..')
const LONG_MS = 180_000

const isTunnel = (command: string): boolean => command.startsWith('kubectl port-forward ')

await describeWithKubernetes('the tutorials of a cluster', (plane) => {
  it.each(['production', 'teams'])(
    'docs/tutorials/%s.md works',
    async (name) => {
      const text = textOf(`docs/tutorials/${name}.md`)
      expect(stepsOf(text).length).toBeGreaterThan(15)
      await using home = await Home.open(plane())
      const { code } = await plane().kubectl([
        'apply',
        '--server-side',
        '--force-conflicts',
        '-f',
        join(ROOT, 'crds/rbac'),
      ])
      expect(code).toBe(0)
      await using operator = await home.startOperator()
      expect(operator.pid).toBeGreaterThan(0)
      const { gateway } = await home.startGatewayPod({ name: `${name}-1` })
      await home.startGatewayPod({ name: `${name}-2` })
      const faults = await runTutorial(text, {
        ports: { 18080: Number(new URL(gateway.public).port) },
        environment: { KUBECONFIG: plane().kubeconfig, PATH: findPrograms() ?? '' },
        isNotHere: isTunnel,
      })
      expect(faults).toEqual([])
    },
    LONG_MS,
  )
})
