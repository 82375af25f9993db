// Says that an entry of a call was rejected, and why.

import type { Problem, Warning } from '../../../language/problem.ts'
import type { SyncItem } from '../../../language/wire/wire.ts'

export const rejectedItem = (
  kind: SyncItem['kind'],
  id: string,
  errors: readonly Problem[],
  warnings: readonly Warning[] = [],
): SyncItem => ({ id, kind, result: 'rejected', errors, warnings })
