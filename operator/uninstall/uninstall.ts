// Removes from a cluster what one operator has made and no chart owns, and lists what is left. Never touches
// definitions, documents and realms, nor anything of another operator.

import { messageOf } from '../../base/thrown.ts'
import { mapAt, textAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { SECRET_NAMES } from '../certificates/certificate-names.ts'
import type { Clock } from '../../base/clock.ts'
import {
  isApiError,
  type KubernetesApi,
  type ObjectName,
  type ResourceType,
  TYPES,
} from '../kubernetes/client/api.ts'
import { uninstallReleased } from '../resource/released.ts'
import { LEASE_FORMAT } from '../resource/lease-format.ts'
import { OPERATOR_SECRETS, WEBHOOK_CONFIGURATION } from '../resource/roles.ts'
import { operatorName } from '../status/kubernetes-status-apply.ts'
import { type TakenLease, otherLeases, takeLease } from './take-lease.ts'
import { type Foreign, foreignSecret, foreignWebhook, type Installation } from './owned.ts'
import { releaseLines, releaseStatuses } from './release-statuses.ts'
import { type Leftover, Report } from './report.ts'

export interface UninstallOptions extends Installation {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly lease: string
  /** Where there may be gateways: of the shared pool, or as sidecars. */
  readonly namespaces: readonly string[] | 'all'
  /** Where there may be documents and realms. */
  readonly watched: readonly string[] | 'all'
  readonly print: (line: string) => void
  /** For this time after its last renewal an operator may still write. */
  readonly settleMs?: number
}

/** A little longer than the renew deadline, after which an operator stops acting. */
const SETTLE_MS = 11_000
/** What is under way then ends within 15 s, and what remains of the command's time is for what has to go. */
const RELEASE_MS = 45_000
/** What was under way as the operator was stopped may come back once. */
const MAX_ROUNDS = 3

/** @returns what could not be removed; nothing is thrown for what the API says */
export const uninstall = async (options: UninstallOptions): Promise<readonly Leftover[]> => {
  const report = new Report(options.print)
  const lease = await stopOperators(options, report)
  const others = await lookForOthers(options, report)
  await releaseAll(options, report)
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    if ((await sweep(options, report, others)) === 0) break
  }
  // Last: while it is ours no operator creates anything again.
  if (lease !== undefined) {
    const place = { type: TYPES.leases, name: leaseName(options) }
    await remove(options.api, report, { ...place, uid: lease.uid })
  }
  return report.left
}

/** Before anything goes that takes time: what is written last must not be that all is well. */
const releaseAll = async (options: UninstallOptions, report: Report): Promise<void> => {
  const { api, clock, namespace, watched } = options
  const operator = operatorName(options, namespace)
  const released = await releaseStatuses({
    api,
    clock,
    operator,
    namespaces: watched,
    withinMs: RELEASE_MS,
    isMeant: () => true,
    message: () => uninstallReleased(operator),
  })
  for (const line of releaseLines(released)) report.say(line)
}

const leaseName = ({ namespace, lease: name }: UninstallOptions): ObjectName => ({
  namespace,
  name,
})

const stopOperators = async (
  options: UninstallOptions,
  report: Report,
): Promise<TakenLease | undefined> => {
  const { api, clock, settleMs = SETTLE_MS } = options
  const name = leaseName(options)
  try {
    const lease = await takeLease({ api, clock, name })
    if (lease.wasHeld) {
      report.say(`waiting ${Math.ceil(settleMs / 1000)} s until the operator has certainly stopped`)
      await new Promise<void>((resolve) => clock.after(settleMs, resolve))
    }
    return lease
  } catch (error) {
    // A running operator may create things again: what is there in the end decides.
    report.fail(describe(TYPES.leases, name), error, deleteCommand(TYPES.leases, name))
    return undefined
  }
}

const lookForOthers = async (
  options: UninstallOptions,
  report: Report,
): Promise<readonly string[]> => {
  const { api, clock } = options
  const selector = Object.entries(LEASE_FORMAT.labels).map(([key, value]) => `${key}=${value}`)
  try {
    return await otherLeases({ api, clock, name: leaseName(options) }, selector.join(','))
  } catch (error) {
    const words = messageOf(error)
    report.say(`whether other operators run in this namespace is not known: ${words}`)
    return []
  }
}

interface Target {
  readonly type: ResourceType
  readonly name: ObjectName
  readonly foreign: (object: ValueMap, installation: Installation) => Foreign
}

const WEBHOOKS: readonly Target[] = [
  TYPES.validatingWebhookConfigurations,
  TYPES.mutatingWebhookConfigurations,
].map((type) => ({
  type,
  name: { namespace: '', name: WEBHOOK_CONFIGURATION },
  foreign: foreignWebhook,
}))

/** Nothing is asked of a webhook that is gone: they go first. @returns how many objects were deleted */
const sweep = async (
  options: UninstallOptions,
  report: Report,
  others: readonly string[],
): Promise<number> => {
  const { namespace } = options
  let deleted = 0
  for (const target of WEBHOOKS) deleted += await removeNamed(options, report, target)
  const [other] = others
  if (other !== undefined) {
    const why = `the operator of Lease ${other} shares them; delete that Lease if it is gone`
    report.add('kept', `Secrets of the operators of namespace ${namespace}`, why)
    return deleted
  }
  for (const scope of scopesOf(options)) deleted += await removeListed(options, report, scope)
  for (const name of OPERATOR_SECRETS) {
    const target = { type: TYPES.secrets, name: { namespace, name }, foreign: foreignSecret }
    deleted += await removeNamed(options, report, target)
  }
  return deleted
}

const scopesOf = ({ namespaces }: UninstallOptions): readonly { namespace?: string }[] =>
  namespaces === 'all' ? [{}] : namespaces.map((namespace) => ({ namespace }))

const removeNamed = async (
  options: UninstallOptions,
  report: Report,
  { type, name, foreign }: Target,
): Promise<number> => {
  const object = describe(type, name)
  try {
    const found = await options.api.get(type, name)
    const why = foreign(found, options)
    if (why === undefined)
      return await remove(options.api, report, { type, name, uid: uidOf(found) })
    report.add('kept', object, why)
  } catch (error) {
    if (isGone(error)) report.add('not there', object)
    else report.fail(object, error, deleteCommand(type, name))
  }
  return 0
}

/** Finds them by their one name in all namespaces: a role may allow listing that name only. */
const removeListed = async (
  options: UninstallOptions,
  report: Report,
  scope: { readonly namespace?: string },
): Promise<number> => {
  const { api } = options
  const fieldSelector = `metadata.name=${SECRET_NAMES.server}`
  const where = scope.namespace === undefined ? 'all namespaces' : `namespace ${scope.namespace}`
  const object = `Secrets ${SECRET_NAMES.server} of ${where}`
  let deleted = 0
  try {
    const { items } = await api.list(TYPES.secrets, { ...scope, fieldSelector })
    // One that could not be listed before was no object: its line is settled now.
    if (items.length === 0) report.add('not there', object)
    for (const item of items) {
      const name = { namespace: metadataText(item, 'namespace'), name: SECRET_NAMES.server }
      const why = foreignSecret(item, options)
      if (why === undefined)
        deleted += await remove(api, report, { type: TYPES.secrets, name, uid: uidOf(item) })
      else report.add('kept', describe(TYPES.secrets, name), why)
    }
  } catch (error) {
    report.fail(object, error, listedCommand(scope.namespace))
  }
  return deleted
}

const remove = async (
  api: KubernetesApi,
  report: Report,
  {
    type,
    name,
    uid,
  }: { readonly type: ResourceType; readonly name: ObjectName; readonly uid: string },
): Promise<number> => {
  const object = describe(type, name)
  try {
    await api.delete(type, name, uid)
    report.add('deleted', object)
    return 1
  } catch (error) {
    if (isGone(error)) report.add('not there', object)
    else report.fail(object, error, deleteCommand(type, name))
    return 0
  }
}

const isGone = (error: unknown): boolean => isApiError(error, 'not_found')

const describe = ({ kind }: ResourceType, { namespace, name }: ObjectName): string =>
  namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`

const deleteCommand = ({ plural }: ResourceType, { namespace, name }: ObjectName): string =>
  `kubectl delete ${plural} ${name}${namespace === '' ? '' : ` --namespace=${namespace}`}`

const listedCommand = (namespace: string | undefined): string => {
  const scope = namespace === undefined ? '--all-namespaces' : `--namespace=${namespace}`
  const which = `--field-selector=metadata.name=${SECRET_NAMES.server} --selector=app.kubernetes.io/managed-by=svc-operator`
  return `kubectl delete secrets ${scope} ${which}`
}

const metadataText = (object: ValueMap, name: string): string =>
  textAt(mapAt(object, 'metadata'), name)

const uidOf = (object: ValueMap): string => metadataText(object, 'uid')
