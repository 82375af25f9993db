// Warns of headers that a document writes by hand beside a part by which the gateway writes them itself.

import type { Template } from '../expression/template.ts'
import type { OwningParts, UnmatchedParts } from './compiled.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Placed } from './folded.ts'
import { membersOf } from './members.ts'
import { ownerOf } from './operation-parts.ts'
import { warnIn } from './refusal.ts'
import type { WarnAt } from './warn-of-failures.ts'

/** @param holders of the parts: what is written is for any of them */
export const warnOfOwnHeaders = (
  holders: readonly OwningParts[],
  written: readonly (readonly [headers: Template | undefined, keys: readonly string[]])[],
  warn: WarnAt,
): void => {
  for (const [template, keys] of written)
    for (const [name] of template === undefined ? [] : membersOf(template)) {
      const header = name.toLowerCase()
      const owner = holders
        .map((parts) => ownerOf(parts, header))
        .find((each) => each !== undefined)
      if (owner !== undefined)
        warn(
          'UnsuitableValue',
          [...keys, name],
          `this has no effect beside '${owner}', which sets it`,
        )
    }
}

/** @param operations of a path: its `on_refusal` is for them too */
export const warnOfRefusedHeaders = (
  parts: UnmatchedParts,
  placed: Placed | undefined,
  operations: readonly OwningParts[],
  diagnostics: Diagnostics,
): void => {
  if (placed === undefined) return
  const written = [[parts.refusal?.headers, ['headers']]] as const
  warnOfOwnHeaders([parts, ...operations], written, warnIn(placed, diagnostics))
}
