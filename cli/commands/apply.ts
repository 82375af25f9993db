// Applies files to a cluster: validates them, asks the cluster about all of them, and only then changes anything. Then it
// waits until every gateway serves what was applied.

import { SYSTEM_CLOCK } from '../../base/clock.ts'
import { ApiError } from '../../operator/kubernetes/client/api.ts'
import { type Collected, collectResources } from '../validate/collect-resources.ts'
import { diagnosticLine } from '../validate/validation-diagnostic.ts'
import { gatherFiles } from '../validate/gather-files.ts'
import { validateCollected } from '../validate/validate-files.ts'
import type { Settings } from '../../telemetry/settings-table.ts'
import { type AppliedObject, selectObjects } from '../cluster/applied-object.ts'
import { type Applied, applyObjects } from '../cluster/apply-objects.ts'
import {
  appliedLines,
  type ApplyReport,
  applyRecord,
  applySummary,
  servedText,
  warningLines,
} from '../cluster/apply-text.ts'
import { CLUSTER_SETTINGS } from '../cluster/cluster-settings.ts'
import { type ClusterConnection, connectCluster } from '../cluster/connect.ts'
import {
  describeCall,
  describeClusterFailure,
  failureLines,
  remedyOf,
} from '../cluster/failure-text.ts'
import { type Served, waitUntilServed } from '../cluster/wait-until-served.ts'
import { type CommandIo, defineCommand, type ExitCode } from '../command.ts'
import type { CommandTable } from '../command-table.ts'
import { compare } from '../diff/compare.ts'
import { changesSummary, changesText, differenceExitCode } from '../diff/difference-text.ts'
import { sidesOfCluster } from '../diff/sides.ts'
import { CLASS_SETTING, MAX_ROUTES_SETTING, OUTPUT_SETTING } from '../common-settings.ts'

const TABLE = {
  program: 'svc apply',
  summary:
    'applies ApiSpecifications, Realms and the Secrets, ConfigMaps and Namespaces beside them to a cluster, server-side; nothing if a file is wrong or the cluster refuses one',
  operands: 'FILE|DIR|-…',
  repeated: { flag: '-f', placeholder: 'FILE', help: 'the same as without it, as kubectl has it' },
  envPrefix: 'SVC_APPLY_',
  settings: {
    ...CLUSTER_SETTINGS,
    'dry-run': {
      type: 'boolean',
      default: false,
      help: 'print what would change and have the cluster check it; change nothing',
      reason: 'reviewers: what would change, before it does',
    },
    'force-conflicts': {
      type: 'boolean',
      default: false,
      help: 'take over fields that another manager has set',
      reason: 'a change of the tool that owns a field',
    },
    wait: {
      type: 'boolean',
      default: true,
      help: 'return at once, not when every gateway serves it',
      reason: 'turn it off in pipelines that do not depend on the result',
    },
    timeout: {
      type: 'duration',
      default: 60,
      max: 86_400,
      help: 'how long to wait at most',
      reason: 'clusters with slow rollouts',
    },
    ...OUTPUT_SETTING,
    ...CLASS_SETTING,
    ...MAX_ROUTES_SETTING,
  },
  examples: [
    [
      'svc apply apis/',
      '0: served, 1: a file is wrong or not served, 2: nothing applied, 4: a part',
    ],
    ['svc apply --dry-run apis/', 'exit codes of svc diff; 2: it would be refused'],
    ['kustomize build . | svc apply --context prod -n shop -', 'what another program prints'],
  ],
} as const satisfies CommandTable

type ApplySettings = Settings<typeof TABLE>

export const apply = defineCommand(TABLE, async ({ settings, operands, repeated }, io) => {
  const sources = [...operands, ...repeated]
  if (sources.length === 0) return fail(io, 'name the files to apply, or - for stdin')
  const gathered = await gatherFiles(sources, io.readStdin)
  if ('error' in gathered) return fail(io, gathered.error)
  const connection = await connectCluster(settings, io)
  if ('error' in connection) return fail(io, connection.error)
  await using cluster = connection
  const collected = collectResources(gathered.files, cluster.namespace)
  const objects = checkFiles(collected, settings, io)
  if (objects === undefined) return 1
  if (objects.length === 0) return fail(io, `there is nothing to apply in ${sources.join(', ')}`)
  try {
    return await applyChecked(objects, collected, { settings, cluster, io })
  } catch (error) {
    if (error instanceof ApiError) return fail(io, describeCall(error, cluster.server))
    throw error
  }
})

const fail = ({ complain }: Pick<CommandIo, 'complain'>, words: string): 2 => {
  complain(`svc apply: ${words}\n`)
  return 2
}

/** Undefined: there is a problem, which was printed. */
const checkFiles = (
  collected: Collected,
  { namespace, maxRoutes }: ApplySettings,
  { complain }: CommandIo,
): readonly AppliedObject[] | undefined => {
  const { diagnostics } = validateCollected(collected, maxRoutes)
  const { objects, refused } = selectObjects(collected, namespace)
  // What is not among the files may be in the cluster, and so may the labels that a realm admits a namespace by.
  const printed = diagnostics.filter(({ severity }) => severity !== 'notice')
  const errors = printed.filter(
    ({ severity, code }) => severity === 'error' && code !== 'RefNotPermitted',
  )
  for (const diagnostic of printed) complain(`${diagnosticLine(diagnostic)}\n`)
  for (const line of refused) complain(`${line}\n`)
  const wrong = errors.length + refused.length
  if (wrong === 0) return objects
  complain(
    `svc apply: ${wrong === 1 ? 'this is' : 'these are'} to be fixed first; nothing was applied\n`,
  )
  return undefined
}

interface Run {
  readonly settings: ApplySettings
  readonly cluster: ClusterConnection
  readonly io: CommandIo
}

const applyChecked = async (
  objects: readonly AppliedObject[],
  collected: Collected,
  run: Run,
): Promise<ExitCode> => {
  const { settings, cluster, io } = run
  const { api } = cluster
  const isForced = settings.forceConflicts
  const foreseen = await applyObjects(objects, { api, isForced, isDryRun: true })
  if (printFailures(foreseen, run)) {
    const words = settings.dryRun ? 'it would not be applied' : 'nothing was applied'
    return fail(io, words)
  }
  if (settings.dryRun) return await printDryRun(foreseen, collected, run)
  const applied = await applyObjects(objects, { api, isForced, isDryRun: false })
  for (const line of warningLines(applied)) io.complain(`${line}\n`)
  const isText = settings.output === 'text'
  if (isText) io.print(appliedLines(applied, ''))
  const isPartial = printFailures(applied, run)
  const served = settings.wait && !isPartial ? await waitForGateways(applied, run) : undefined
  const report: ApplyReport = { applied, ...(served !== undefined && { served }) }
  io.print(isText ? servedText(report) : applyRecord(report))
  io.complain(`${applySummary(report)}\n`)
  return exitCodeOf(report)
}

const exitCodeOf = ({ applied, served }: ApplyReport): ExitCode => {
  if (applied.some(({ applyResult: { result } }) => result === 'failed'))
    return applied.some(isChanged) ? 4 : 2
  return [...(served?.values() ?? [])].every((each) => each.served) ? 0 : 1
}

const isChanged = ({ applyResult: { result } }: Applied): boolean =>
  result === 'created' || result === 'configured'

/** @returns whether there were any */
const printFailures = (applied: readonly Applied[], { io, cluster }: Run): boolean => {
  const failed = applied.flatMap((object) =>
    object.applyResult.result === 'failed' ? [{ object, error: object.applyResult.error }] : [],
  )
  const whole = new Set<string>()
  const errors: ApiError[] = []
  for (const { object, error } of failed) {
    const words = describeClusterFailure(error, cluster.server)
    if (words !== undefined) whole.add(words)
    else {
      errors.push(error)
      for (const line of failureLines(object, error)) io.complain(`${line}\n`)
    }
  }
  for (const words of whole) io.complain(`svc apply: ${words}\n`)
  const remedy = remedyOf(errors)
  if (remedy !== undefined) io.complain(`${remedy}\n`)
  return failed.length > 0
}

const printDryRun = async (
  foreseen: readonly Applied[],
  collected: Collected,
  { settings, cluster, io }: Run,
): Promise<ExitCode> => {
  const sides = await sidesOfCluster(cluster.api, collected, { ...settings, all: false })
  const changes = compare(sides.before, sides.after)
  for (const line of warningLines(foreseen)) io.complain(`${line}\n`)
  if (settings.output === 'json') io.print(applyRecord({ applied: foreseen, changes }))
  else io.print(`${appliedLines(foreseen, ' (dry run)')}${changesText(changes)}`)
  for (const line of sides.leftOut) io.complain(`left out: ${line}\n`)
  for (const line of sides.notes) io.complain(`note: ${line}\n`)
  io.complain(
    `${applySummary({ applied: foreseen })}; ${changesSummary(changes, sides.leftOut.length)}\n`,
  )
  if (sides.leftOut.length > 0) return 2
  const code = differenceExitCode(changes)
  return code === 0 && foreseen.some(isChanged) ? 1 : code
}

const waitForGateways = async (
  applied: readonly Applied[],
  { settings, cluster, io }: Run,
): Promise<ReadonlyMap<Applied, Served>> => {
  const own = applied.flatMap((object) =>
    (object.kind === 'ApiSpecification' || object.kind === 'Realm') &&
    'generation' in object.applyResult
      ? [{ applied: object, ...object, generation: object.applyResult.generation }]
      : [],
  )
  const found = await waitUntilServed(own, {
    api: cluster.api,
    clock: SYSTEM_CLOCK,
    timeoutMs: settings.timeout * 1000,
    onWait: () => {
      io.complain(`waiting up to ${settings.timeout} s until the gateways serve it\n`)
    },
  })
  return new Map([...found].map(([{ applied: object }, served]) => [object, served]))
}
