// Writes the messages for the owner of a resource that exceeds a quota. They name nothing of other namespaces.

import type { NewCondition } from '../../resource/condition.ts'
import { ANNOTATIONS } from '../../resource/resource.ts'
import type { QuotaName } from './quota-amounts.ts'

export interface Shortage {
  readonly quota: QuotaName
  readonly limit: number
  /** What the resource takes by itself. */
  readonly needed: number
  /** What the others of its namespace have. */
  readonly others: number
  readonly largest: Largest | undefined
}

/** The one that has most. */
export interface Largest {
  /** Within the namespace. */
  readonly name: string
  readonly amount: number
}

export const quotaExceeded = (
  namespace: string,
  shortage: Shortage,
  misspelt: string | undefined,
): NewCondition<'Accepted'> => ({
  type: 'Accepted',
  status: 'False',
  reason: 'QuotaExceeded',
  message:
    misspelt === undefined
      ? `${describeShortage(namespace, shortage)}: ${REMEDIES[shortage.quota]}`
      : `the annotation ${ANNOTATIONS.quota} of the namespace ${namespace} can't be read at '${misspelt.slice(0, 80)}', ` +
        'so nothing new is accepted: an administrator of the cluster must correct it (documents=N, routes=N, mb=N, realms=N)',
})

/** @example 'the namespace shop may have 5 Realms, and others had 5 Realms when this one was validated' */
const describeShortage = (
  namespace: string,
  { quota, limit, needed, others, largest }: Shortage,
): string => {
  const unit = quota === 'bytes' ? ' of documents' : ''
  const allowed = `the namespace ${namespace} may have ${print(quota, limit)}${unit}`
  const used = `others had ${print(quota, others)} when this one was validated`
  if (quota === 'documents' || quota === 'realms') return `${allowed}, and ${used}`
  const most =
    largest === undefined ? '' : ` (most: ${largest.name}, ${print(quota, largest.amount)})`
  return `${allowed}, this one takes ${print(quota, needed)}, and ${used}${most}`
}

const print = (quota: QuotaName, amount: number): string => PRINTERS[quota](amount)

const PRINTERS: Readonly<Record<QuotaName, (amount: number) => string>> = {
  documents: (count) => `${count} ApiSpecification${count === 1 ? '' : 's'}`,
  routes: (count) => `${count} route${count === 1 ? '' : 's'}`,
  bytes: (bytes) => printBytes(bytes),
  realms: (count) => `${count} Realm${count === 1 ? '' : 's'}`,
}

/** @example printBytes(3_000_000) // '2.9 MB' */
const printBytes = (bytes: number): string => {
  if (bytes >= 2 ** 20) return `${Math.round((bytes / 2 ** 20) * 10) / 10} MB`
  return bytes >= 1024 ? `${Math.round((bytes / 1024) * 10) / 10} KB` : `${bytes} bytes`
}

const askFor = (setting: string, value: string): string =>
  `ask the administrators of the gateways for more (--namespace-max-${setting}, namespaceQuota.${value} of the chart, or the ` +
  `annotation ${ANNOTATIONS.quota} of the Namespace)`

const REMEDIES: Readonly<Record<QuotaName, string>> = {
  documents: `delete others, or ${askFor('documents', 'documents')}`,
  routes: `use fewer brackets and paths, delete others, or ${askFor('routes', 'routes')}`,
  bytes: `make it or others smaller, delete others, or ${askFor('mb', 'mb')}`,
  realms: `delete others, or ${askFor('realms', 'realms')}`,
}
