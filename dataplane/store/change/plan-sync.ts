// Plans a sync call on a draft, with a result for each entry: realms put, documents, realms deleted. It yields
// between entries, so that requests are served while a thousand documents are validated.

import type { SyncItem } from '../../../language/wire/wire.ts'
import type { Draft } from './draft.ts'
import type { ValidateDocument } from './validate-document.ts'
import { deleteManaged, putManagedRealm, putManagedSpec } from './plan-managed.ts'
import type { SyncCall } from '../sync-call.ts'

export interface SyncContext {
  readonly validate: ValidateDocument
  /** Unix time, milliseconds. */
  readonly nowMs: number
  /** Lets other work of the process run. */
  readonly pause: () => Promise<void>
}

/** Rejects only with what an entry's parsing throws; the caller rolls the draft back then. */
export const planSync = async (
  draft: Draft,
  call: SyncCall,
  { validate, nowMs, pause }: SyncContext,
): Promise<readonly SyncItem[]> => {
  const leaving = new Set(call.realms.delete)
  const context = { validate, nowMs, manager: call.managedBy, leaving }
  const items: SyncItem[] = []
  for (const realm of call.realms.put) {
    items.push(putManagedRealm(draft, realm(), context))
    await pause()
  }
  for (const id of call.specs.delete) items.push(deleteManaged(draft, 'spec', id, context))
  for (const spec of call.specs.put) {
    items.push(await putManagedSpec(draft, spec(), context))
    await pause()
  }
  for (const uri of call.realms.delete) items.push(deleteManaged(draft, 'realm', uri, context))
  return items
}
