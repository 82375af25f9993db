// Shows examples of an operation in its OpenAPI description: bodies of requests, and of responses by their status. Who calls
// and what the action yields are for tests alone.

import { mapAt, memberAt } from '../expression/members.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import { mediaKind } from '../routes/media-kind.ts'
import { PROBLEM_JSON } from '../routes/negotiate.ts'

/** What a document says of an operation to people, as written. */
export interface Words {
  readonly path: ValueMap
  readonly operation: ValueMap
}

/** Name → Example Object. */
type Examples = ValueMap

/** Bodies that requests of the examples have. */
export const requestExamples = (words: Words): Examples =>
  examplesOf(words, (example) => memberAt(mapAt(example, 'request'), 'body'))

/** The responses with the bodies that the examples expect; a response that is a reference stays. */
export const withExamples = (responses: ValueMap, words: Words): ValueMap =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const content = isMap(response) ? memberAt(response, 'content') : undefined
      if (!isMap(response) || content === undefined || !isMap(content)) return [status, response]
      const examples = examplesOf(words, (example) => {
        const expected = mapAt(example, 'expect')
        const wanted = memberAt(expected, 'status_code') ?? '200'
        return isOf(status, wanted) ? memberAt(expected, 'body') : undefined
      })
      return [status, { ...response, content: inJson(content, examples) }]
    }),
  )

const isOf = (status: string, wanted: Value): boolean =>
  typeof wanted === 'number' || typeof wanted === 'string'
    ? String(wanted) === status || (status === '2XX' && String(wanted).startsWith('2'))
    : false

/** Content whose types in JSON have the examples, which are values. */
export const inJson = (content: ValueMap, examples: Examples): ValueMap =>
  Object.keys(examples).length === 0
    ? content
    : Object.fromEntries(
        Object.entries(content).map(([type, media]) => [
          type,
          isMap(media) && isShownIn(type) ? { ...media, examples } : media,
        ]),
      )

/** Error records are the gateway's own in problem details. */
const isShownIn = (type: string): boolean =>
  type === '*/*' || (mediaKind(type) === 'json' && type !== PROBLEM_JSON)

const examplesOf = (
  { operation }: Words,
  bodyOf: (example: ValueMap) => Value | undefined,
): Examples =>
  Object.fromEntries(
    Object.entries(mapAt(operation, 'examples')).flatMap(([name, example]) => {
      const body = isMap(example) ? bodyOf(example) : undefined
      return body === undefined ? [] : [[name, { value: body }]]
    }),
  )
