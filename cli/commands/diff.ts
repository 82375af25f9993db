// Compares files with others, with a gateway or with a cluster, before they are applied: all that callers and owners may
// notice.

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
import { compare } from '../diff/compare.ts'
import {
  changesForGitHub,
  changesRecord,
  changesSummary,
  changesText,
  differenceExitCode,
} from '../diff/difference-text.ts'
import { type DiffSides, sidesOfCluster, sidesOfFiles, sidesOfGateway } from '../diff/sides.ts'
import { OUTPUT_SETTING, SOURCE_SETTINGS } from '../common-settings.ts'

const TABLE = {
  program: 'svc diff',
  summary:
    'compares two files or directories, or files with a gateway or a cluster: what callers and owners may notice',
  operands: 'OLD NEW | FILE|DIR|-…',
  envPrefix: 'SVC_DIFF_',
  settings: {
    gateway: {
      type: 'string',
      default: 'http://127.0.0.1:18081',
      placeholder: 'URL',
      help: 'management address of a gateway; with the files that follow',
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
    output: {
      ...OUTPUT_SETTING.output,
      values: ['text', 'json', 'github'],
      reason: 'scripts, and annotations of pull requests',
    },
    ...SOURCE_SETTINGS,
  },
  examples: [
    [
      'svc diff main/apis apis',
      'exit 0: no difference, 1: some, 3: security is loosened, 4: breaking or may break',
    ],
    ['svc diff --context prod apis/', 'with what the operator there has'],
  ],
} as const satisfies CommandTable

type DiffSettings = Settings<typeof TABLE>

type Read = DiffSides | { readonly error: string }

export const diff = defineCommand(TABLE, async ({ settings, operands, given }, io) => {
  const isCluster =
    settings.cluster || Object.keys(CLUSTER_SETTINGS).some((name) => given.has(name))
  if (operands.length === 0) return io.fail('name the files to compare, or - for stdin')
  if (isCluster && given.has('gateway')) return io.fail('name either a gateway or a cluster')
  const isFiles = !isCluster && !given.has('gateway') && operands.length > 1
  const sides = isFiles
    ? await byFiles(operands, settings, io)
    : await byServed(operands, isCluster, settings, io)
  return 'error' in sides ? io.fail(sides.error) : printSides(sides, settings, io)
})

const byFiles = async (
  operands: readonly string[],
  settings: DiffSettings,
  { readStdin }: CommandIo,
): Promise<Read> => {
  const [before = '', after = '', ...others] = operands
  if (others.length > 0)
    return {
      error:
        'name two, OLD and NEW, or say with --gateway or --cluster what the files are compared with',
    }
  const left = await gatherFiles([before], readStdin)
  if ('error' in left) return left
  const right = await gatherFiles([after], readStdin)
  return 'error' in right ? right : sidesOfFiles([left.files, right.files], settings)
}

const byServed = async (
  operands: readonly string[],
  isCluster: boolean,
  settings: DiffSettings,
  io: CommandIo,
): Promise<Read> => {
  const problem = isCluster ? undefined : addressProblem(settings.gateway)
  if (problem !== undefined) return { error: problem }
  const gathered = await gatherFiles(operands, io.readStdin)
  if ('error' in gathered) return gathered
  return isCluster
    ? await byCluster(gathered.files, settings, io)
    : await sidesOfGateway(settings.gateway, gathered.files, settings)
}

const byCluster = async (
  files: readonly GatheredFile[],
  settings: DiffSettings,
  io: CommandIo,
): Promise<Read> => {
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
  const changes = compare(sides.before, sides.after)
  io.print(WRITERS[output](changes))
  for (const line of sides.leftOut) io.complain(`left out: ${line}\n`)
  for (const line of sides.notes) io.complain(`note: ${line}\n`)
  io.complain(`${changesSummary(changes, sides.leftOut.length)}\n`)
  // Of a document that is left out nothing is known: "no difference" would be a guess.
  return sides.leftOut.length > 0 ? 2 : differenceExitCode(changes)
}

const WRITERS = {
  text: changesText,
  json: (changes) => `${JSON.stringify(changesRecord(changes), null, 2)}\n`,
  github: changesForGitHub,
} as const satisfies Record<DiffSettings['output'], (changes: ReturnType<typeof compare>) => string>
