// Logs the result of an entry, unless the entry stayed as it was.

import type { SyncItem } from '../../language/wire/wire.ts'
import type { Log } from '../../telemetry/log.ts'

const MAX_DIAGNOSTICS = 8

export const logItem = (log: Log, { id, kind, result, errors, warnings }: SyncItem): void => {
  switch (result) {
    case 'unchanged':
      return
    case 'rejected':
      log.warn('entry rejected', { id, kind, errors: errors.slice(0, MAX_DIAGNOSTICS) })
      return
    case 'deleted':
      log.info('entry deleted', { id, kind })
      return
    case 'loaded':
      if (warnings.length === 0) log.info('entry loaded', { id, kind })
      else
        log.warn('entry loaded with warnings', {
          id,
          kind,
          warnings: warnings.slice(0, MAX_DIAGNOSTICS),
        })
  }
}
