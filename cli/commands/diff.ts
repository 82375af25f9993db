// Compares the routes of files with those that a gateway or a cluster has, before the files are applied.

import { ApiError } from '../../operator/kubernetes/client/api.ts'
import { addressProblem } from '../gateway-operand.ts'
import { collectResources } from '../validate/collect-resources.ts'
import { type GatheredFile, gatherFiles } from '../validate/gather-files.ts'
import type { Settings } from '../../telemetry/settings-table.ts'
import { CLUSTER_SETTINGS } from '../cluster/cluster-settings.ts'
import { connectCluster } from '../cluster/connect.ts'
import { describeCall } from '../cluster/failure-text.ts'
import { type CommandIo, defineCommand, type ExitCode } from '../command.ts'
import type { CommandTable } from '../command-table.ts'
import { type DiffSides, sidesOfCluster, sidesOfGateway } from '../diff-sides.ts'
import {
  differenceExitCode,
  differenceOf,
  differenceSummary,
  differenceText,
} from '../route-changes-text.ts'
import { OUTPUT_SETTING, SOURCE_SETTINGS } from '../common-settings.ts'

const TABLE = {
  program: 'svc diff',
  summary:
    'compares files with a gateway or a cluster: routes, hosts and security that would change',
  operands: 'FILE|DIR|-…',
  envPrefix: 'SVC_DIFF_',
  settings: {
    gateway: {
      type: 'string',
      default: 'http://127.0.0.1:18081',
      placeholder: 'URL',
      help: 'management address of the gateway',
      reason: 'a gateway elsewhere than on this machine',
    },
    cluster: {
      type: 'boolean',
      default: false,
      help: 'with the resources of a cluster; so do its three settings',
      reason: 'those who compare with resources instead of a gateway',
    },
    ...CLUSTER_SETTINGS,
    all: {
      type: 'boolean',
      default: false,
      help: 'the files are everything: other documents would go',
      reason: 'a directory that holds everything: what is missing there would go',
    },
    ...OUTPUT_SETTING,
    ...SOURCE_SETTINGS,
  },
  examples: [
    ['svc diff apis/', 'exit 0: no change, 1: changes, 3: security is loosened'],
    ['svc diff --context prod apis/', 'with what the operator there has'],
  ],
} as const satisfies CommandTable

type DiffSettings = Settings<typeof TABLE>

export const diff = defineCommand(TABLE, async ({ settings, operands, given }, io) => {
  const fail = (error: string): 2 => {
    io.complain(`svc diff: ${error}\n`)
    return 2
  }
  const isCluster =
    settings.cluster || Object.keys(CLUSTER_SETTINGS).some((name) => given.has(name))
  if (operands.length === 0) return fail('name the files to compare, or - for stdin')
  if (isCluster && given.has('gateway')) return fail('name either a gateway or a cluster')
  const problem = isCluster ? undefined : addressProblem(settings.gateway)
  if (problem !== undefined) return fail(problem)
  const gathered = await gatherFiles(operands, io.readStdin)
  if ('error' in gathered) return fail(gathered.error)
  const sides = isCluster
    ? await byCluster(gathered.files, settings, io)
    : await sidesOfGateway(settings.gateway, gathered.files, settings)
  return 'error' in sides ? fail(sides.error) : printSides(sides, settings, io)
})

const byCluster = async (
  files: readonly GatheredFile[],
  settings: DiffSettings,
  io: CommandIo,
): Promise<DiffSides | { readonly error: string }> => {
  const connection = await connectCluster(settings, io)
  if ('error' in connection) return connection
  await using cluster = connection
  try {
    return await sidesOfCluster(cluster.api, collectResources(files, cluster.namespace), settings)
  } catch (error) {
    if (error instanceof ApiError) return { error: describeCall(error, cluster.server) }
    throw error
  }
}

const printSides = (sides: DiffSides, { output }: DiffSettings, io: CommandIo): ExitCode => {
  const difference = differenceOf(sides)
  io.print(
    output === 'json' ? `${JSON.stringify(difference, null, 2)}\n` : differenceText(difference),
  )
  for (const line of sides.leftOut) io.complain(`left out: ${line}\n`)
  for (const line of sides.notes) io.complain(`note: ${line}\n`)
  io.complain(`${differenceSummary(difference)}\n`)
  // Of a document that is left out nothing is known: "no change" would be a guess.
  return sides.leftOut.length > 0 ? 2 : differenceExitCode(difference)
}
