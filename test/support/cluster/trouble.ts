// Collects, as text, what a cluster shows of its namespaces when something went wrong: Pods, our resources, Events, the
// ends of the logs.

import * as jest from '@jest/globals'
import type { ClusterNode } from './cluster-node.ts'

/** Never throws: what can't be asked is said. */
const describeTrouble = async (
  cluster: ClusterNode,
  namespaces: readonly string[],
): Promise<string> => {
  const parts = [`resources\n${await ask(cluster, ['get', 'apispec,realms', '-A', '-o', 'wide'])}`]
  for (const namespace of namespaces) {
    const within = ['-n', namespace]
    const pods = await ask(cluster, ['get', 'pods', ...within, '-o', 'wide'])
    const events = await ask(cluster, [
      'get',
      'events',
      ...within,
      '--sort-by=.lastTimestamp',
      '--no-headers',
    ])
    parts.push(`${namespace}: Pods\n${pods}`, `${namespace}: Events\n${lastLines(events, 30)}`)
    for (const pod of podNames(pods)) {
      const logs = ['logs', ...within, pod, '--all-containers', '--prefix', `--tail=${LOG_LINES}`]
      parts.push(`${namespace}: log of ${pod}\n${await ask(cluster, logs)}`)
    }
  }
  return parts.map((part) => `--- ${part.trim()}`).join('\n')
}

const LOG_LINES = 20

const ask = async (cluster: ClusterNode, args: readonly string[]): Promise<string> => {
  try {
    const { stdout, stderr } = await cluster.kubectl(args, { timeoutMs: 20_000 })
    return stdout + stderr
  } catch (error) {
    return String(error)
  }
}

const podNames = (table: string): readonly string[] =>
  table
    .split('\n')
    .slice(1)
    .flatMap((line) => /^\S+/.exec(line)?.[0] ?? [])

const lastLines = (text: string, count: number): string =>
  text.trim().split('\n').slice(-count).join('\n')

/**
 * Tests in one cluster that need nothing of each other: one that fails says what the cluster says.
 *
 * @example
 * const telling = tellingIn(cluster, ['shop'])
 * it('nothing is lost', telling(async () => { … }))
 */
export const tellingIn =
  (
    cluster: () => ClusterNode,
    namespaces: readonly string[],
  ): ((run: () => Promise<void>) => () => Promise<void>) =>
  (run) =>
  async () => {
    try {
      await run()
    } catch (error) {
      const name = jest.expect.getState().currentTestName ?? ''
      const trouble = await describeTrouble(cluster(), namespaces)
      process.stderr.write(`${name}:\n${withoutGood(trouble)}\n`)
      throw error
    }
  }

/** There are too many of them to be read. */
const withoutGood = (trouble: string): string =>
  trouble
    .split('\n')
    .filter((line) => !/accepted, resolved, in service|apispecification\/doc-/.test(line))
    .join('\n')

/**
 * Steps in one cluster, each an `it`: one that fails says what the cluster says, and those after it fail at once.
 *
 * @example
 * const step = stepsIn(cluster, ['svc-gateway-system', 'shop'])
 * it('the chart is installed', step(async () => { … }))
 */
export const stepsIn = (
  cluster: () => ClusterNode,
  namespaces: readonly string[],
): ((run: () => Promise<void>) => () => Promise<void>) => {
  let broken: string | undefined
  return (run) => async () => {
    if (broken !== undefined) throw new Error(`after a step that failed: ${broken}`)
    try {
      await run()
    } catch (error) {
      broken = jest.expect.getState().currentTestName ?? 'one'
      process.stderr.write(`${broken}:\n${await describeTrouble(cluster(), namespaces)}\n`)
      throw error
    }
  }
}
