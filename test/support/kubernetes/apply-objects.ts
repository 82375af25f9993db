// Applies objects, as text or as data, to the API server.

import { eventually } from '../eventually.ts'
import type { KubectlOptions, KubectlResult } from './kubectl.ts'

/** @throws with kubectl's words */
export const applyObjects = async (
  kubectl: (args: readonly string[], options?: KubectlOptions) => Promise<KubectlResult>,
  objects: string | readonly object[],
): Promise<void> => {
  const input =
    typeof objects === 'string'
      ? objects
      : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const run = async (args: readonly string[]): Promise<void> => {
    const { code, stderr } = await kubectl(args, { input })
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
  }
  await run(['apply', '--server-side', '--force-conflicts', '-f', '-'])
  if (!input.includes('CustomResourceDefinition')) return
  const established = ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']
  // kubectl fails at once on a kind that has no status at all yet.
  await eventually(() => run(established), { withinMs: 60_000, everyMs: 200 })
}
