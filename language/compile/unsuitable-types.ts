// Refuses media types that do not suit what an operation does with bodies: types that cannot be read where an expression
// reads the body, and types that nothing writes where a response has to be written (behaviour §2).

import type { CompiledOperation } from './compiled.ts'
import { type ContentType, isWrittenType } from '../routes/negotiate.ts'
import { visitNames } from '../expression/header-templates.ts'
import { readsOf } from '../expression/reads.ts'
import type { Template } from '../expression/template.ts'
import { isReadable, isWildcard } from '../routes/media-range.ts'
import { actionResponse } from './action.ts'
import { NO_BODY } from './action-response.ts'
import { DEFAULT_TYPES } from './media-types.ts'
import { type Keys, usesOf } from './warn-of-failures.ts'

const ALL_TYPES: readonly ContentType[] = ['*/*']

/** Whether an expression reads the body of the request. */
export const readsBody = ({ reads }: Pick<CompiledOperation, 'reads'>): boolean =>
  reads.includes('request') || reads.includes('request.body')

/** What is accepted where the document says nothing: any type, if the body goes on as it came. */
export const usualTypes = (
  action: CompiledOperation['action'],
  reads: CompiledOperation['reads'],
): readonly ContentType[] => {
  const goesUnread = action.type === 'forward' && action.body === undefined && !readsBody({ reads })
  return goesUnread ? ALL_TYPES : DEFAULT_TYPES
}

/** Reports a value that can't stand at `keys` of the operation. */
type RefuseAt = (keys: Keys, message: string) => void

/** @param uriName what the document calls the URI of a WAMP action */
export const refuseUnsuitableTypes = (
  operation: CompiledOperation,
  uriName: string,
  refuse: RefuseAt,
): void => {
  refuseUnreadable(operation, uriName, refuse)
  refuseUnwritten(operation, refuse)
}

const refuseUnreadable = (
  operation: CompiledOperation,
  uriName: string,
  refuse: RefuseAt,
): void => {
  if (!readsBody(operation)) return
  const unreadable = operation.accepts.filter((range) => !isReadable(range))
  if (unreadable.length === 0) return
  const message = `the body is read here, and accepts has what cannot be read (${unreadable.join(', ')}): only JSON, +json, MessagePack, forms and text/* can; leave the body unread, or accept these alone`
  for (const { template, keys } of usesOf(operation, uriName))
    for (const place of placesReading(template, keys)) refuse(place, message)
}

const placesReading = (template: Template, keys: Keys): readonly Keys[] => {
  if (!readsBody({ reads: readsOf(template) })) return []
  if (template.kind === 'map')
    return template.entries.flatMap(([key, member]) => placesReading(member, [...keys, key]))
  if (template.kind === 'list')
    return template.items.flatMap((item, index) => placesReading(item, [...keys, index]))
  return [keys]
}

const refuseUnwritten = (operation: CompiledOperation, refuse: RefuseAt): void => {
  const response = actionResponse(operation)
  const body = operation.onResult.body ?? response.body
  if (!response.checksAccept || body === NO_BODY) return
  const isSet = mayNameType(operation.onResult.headers ?? response.headers ?? operation.headers)
  for (const [index, type] of operation.provides.entries()) {
    if (isWrittenType(type) || (isSet && !isWildcard(type))) continue
    refuse(
      ['provides', index],
      isWildcard(type)
        ? 'a range of types is provided only where the response of an upstream passes through'
        : `values are written as JSON or MessagePack, so nothing here responds with ${type}: set content-type among the headers of on_result`,
    )
  }
}

/** False where it is known that the headers have no content-type. */
const mayNameType = (headers: Template): boolean => {
  const names = new Set<string>()
  visitNames(headers, {
    onWritten: (written) => {
      for (const name of written) names.add(name.toLowerCase().replaceAll('_', '-'))
    },
  })
  const isKnown = headers.kind === 'map' || headers.kind === 'constant'
  return names.has('content-type') || !isKnown
}
