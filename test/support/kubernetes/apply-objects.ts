// Applies objects, as text or as data, to the API server. What they define is served when it resolves.

import { parseAllDocuments } from 'yaml'
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
  await eventually(() => run(established), PATIENCE)
  // A kind is served, and told of to kubectl, by other parts of the API server than the one that calls it established, and later.
  const kinds = definedKinds(input)
  if (kinds.length > 0)
    await eventually(() => run(['get', kinds.join(), '-A', '-o', 'name']), PATIENCE)
}

const PATIENCE = { withinMs: 60_000, everyMs: 200 }

interface Definition {
  readonly kind?: string
  readonly items?: readonly Definition[]
  readonly spec?: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
  }
}

/** As kubectl takes them: `widgets.v1.example.test`. */
const definedKinds = (input: string): readonly string[] =>
  parseAllDocuments(input)
    .flatMap((document): readonly Definition[] => {
      const object = document.toJS() as Definition | null
      return object === null ? [] : (object.items ?? [object])
    })
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .flatMap(({ spec }) =>
      (spec?.versions ?? [])
        .filter(({ served }) => served)
        .map(({ name }) => `${spec?.names.plural ?? ''}.${name}.${spec?.group ?? ''}`),
    )
