// Logs the results of the entries of one call: one line for all that went as it should, one for each of the others.

import type { SyncItem } from '../../language/wire/wire.ts'
import type { Log } from '../../telemetry/log.ts'

const MAX_DIAGNOSTICS = 8
const MAX_NAMES = 8

/** Loads without warnings and deletes. A start may have thousands. */
export const logPlainItems = (log: Log, items: readonly SyncItem[]): void => {
  const loaded = items.filter((item) => item.result === 'loaded' && isPlain(item))
  const deleted = items.filter(({ result }) => result === 'deleted')
  logTogether(log, { one: 'entry loaded', many: 'entries loaded' }, loaded)
  logTogether(log, { one: 'entry deleted', many: 'entries deleted' }, deleted)
}

/** Whether `logPlainItems` is enough for it. */
export const isPlain = ({ result, warnings }: SyncItem): boolean =>
  result !== 'rejected' && (result !== 'loaded' || warnings.length === 0)

/** Logs an entry that is not plain. */
export const logItem = (log: Log, { id, kind, result, errors, warnings }: SyncItem): void => {
  if (result === 'rejected')
    log.warn('entry rejected', { id, kind, errors: errors.slice(0, MAX_DIAGNOSTICS) })
  else
    log.warn('entry loaded with warnings', {
      id,
      kind,
      warnings: warnings.slice(0, MAX_DIAGNOSTICS),
    })
}

const logTogether = (
  log: Log,
  messages: { readonly one: string; readonly many: string },
  items: readonly SyncItem[],
): void => {
  const [first] = items
  if (first === undefined) return
  if (items.length === 1) {
    log.info(messages.one, { id: first.id, kind: first.kind })
    return
  }
  const realms = items.filter(({ kind }) => kind === 'realm').length
  log.info(messages.many, {
    documents: items.length - realms,
    realms,
    first: items.slice(0, MAX_NAMES).map(({ id }) => id),
  })
}
