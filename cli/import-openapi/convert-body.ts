// Turns what an OpenAPI operation takes as its body, and what it responds with, into schemas. That of a request is left out
// where requests that the description allows would be refused: without a body, or in a type that is not read as JSON.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { listAt, mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { Method } from '../../language/document.ts'
import { exampleOf, ownExample } from './convert-examples.ts'
import { writtenParameters } from './convert-parameters.ts'
import { convertSchema, type SchemaSource } from './convert-schema.ts'
import { type Description, type Drop, follow, type Placed } from './description.ts'

/** What one operation says, and its path. */
export interface OperationPlaces {
  readonly method: Method
  readonly item: Placed<ValueMap>
  readonly operation: Placed<ValueMap>
}

interface WrittenBody {
  readonly schema: Placed
  readonly isRequired: boolean
  readonly mediaTypes: readonly string[]
  readonly example: Value | undefined
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:\s*;.*)?$/i

export const convertBody = (
  description: Description,
  places: OperationPlaces,
  drop: Drop,
): { readonly schema?: Value | undefined; readonly example?: Value | undefined } => {
  const read = description.dialect === '2.0' ? bodyOf2 : bodyOf3
  const body = read(description, places, drop)
  if (body === undefined) return {}
  const { example, schema } = body
  const reason = misfit(body, places.method)
  if (reason !== undefined) drop(schema.pointer, reason)
  if (reason !== undefined) return { example }
  const { value, pointer } = schema
  const build: SchemaSource['build'] = (convert) => convert(value, pointer)
  return {
    example,
    schema: convertSchema({ description, unsent: 'readOnly', pointer, build }, drop),
  }
}

const misfit = ({ isRequired, mediaTypes }: WrittenBody, method: Method): string | undefined => {
  if (method === 'get' || method === 'head') return 'GET and HEAD have no body'
  if (!isRequired) return 'the body is not required, and a schema refuses requests without one'
  const other = mediaTypes.find((type) => !JSON_TYPE.test(type))
  return other === undefined
    ? undefined
    : `the body may be ${other.slice(0, 100)}, and a schema refuses what it cannot read as JSON`
}

const bodyOf2 = (
  description: Description,
  { item, operation }: OperationPlaces,
  drop: Drop,
): WrittenBody | undefined => {
  const consumes = memberAt(operation.value, 'consumes') ?? memberAt(description.root, 'consumes')
  const listed = listAt({ consumes: consumes ?? [] }, 'consumes')
  const parameters = writtenParameters(description, [item, operation], drop)
  for (const { value, pointer } of parameters)
    if (textAt(value, 'in') === 'formData') drop(pointer, 'fields of forms are not checked')
  const body = parameters.findLast(({ value }) => textAt(value, 'in') === 'body')
  return (
    body && {
      schema: {
        value: ownValue(body.value, 'schema') ?? {},
        pointer: childPointer(body.pointer, 'schema'),
      },
      isRequired: ownValue(body.value, 'required') === true,
      mediaTypes: listed.length > 0 ? listed.map(String) : ['application/json'],
      example: exampleOf(description, body.value),
    }
  )
}

const bodyOf3 = (
  description: Description,
  { operation }: OperationPlaces,
  drop: Drop,
): WrittenBody | undefined => {
  const written = memberAt(operation.value, 'requestBody')
  if (written === undefined) return undefined
  const place = childPointer(operation.pointer, 'requestBody')
  const body = follow(description, { value: written, pointer: place })
  if (body === undefined) drop(place, 'there is no body in this file at this reference')
  const media = body && mediaOf(description, body)
  const schema = ownValue(media?.value ?? {}, 'schema')
  if (body === undefined || media === undefined || schema === undefined) return undefined
  return {
    schema: { value: schema, pointer: childPointer(media.pointer, 'schema') },
    isRequired: ownValue(body.value, 'required') === true,
    mediaTypes: Object.keys(mapAt(body.value, 'content')),
    example: exampleOf(description, media.value),
  }
}

/** The Media Type Object for JSON, or else the first. */
const mediaOf = (
  description: Description,
  { value, pointer }: Placed<ValueMap>,
): (Placed<ValueMap> & { readonly isJson: boolean }) | undefined => {
  const content = mapAt(value, 'content')
  const types = Object.keys(content)
  const type = types.find((each) => JSON_TYPE.test(each)) ?? types[0] ?? ''
  const media = follow(description, {
    value: memberAt(content, type) ?? null,
    pointer: childPointer(childPointer(pointer, 'content'), type),
  })
  return media && { ...media, isJson: JSON_TYPE.test(type) }
}

interface ConvertedResponses {
  /** Describes `action.result`; undefined: nothing is said of it. */
  readonly result: Value | undefined
  readonly examples: readonly (Placed & { readonly status: string })[]
}

export const convertResponses = (
  description: Description,
  { method, operation }: OperationPlaces,
  drop: Drop,
): ConvertedResponses => {
  if (method === 'head') return { result: undefined, examples: [] }
  const found = Object.entries(mapAt(operation.value, 'responses')).flatMap(([status, value]) => {
    const pointer = childPointer(childPointer(operation.pointer, 'responses'), status)
    const response = follow(description, { value, pointer })
    if (response === undefined) drop(pointer, 'there is no response in this file at this reference')
    return response === undefined ? [] : [readResponse(description, response, status)]
  })
  const [success, another] = found.filter(({ status }) => status.startsWith('2'))
  const promised =
    another === undefined && /^\d+$/.test(success?.status ?? '') ? success : undefined
  listOthers(found, promised, drop)
  return {
    result:
      promised?.schema && resultOf(description, promised.schema, Number(promised.status), drop),
    examples: found.flatMap(({ status, example, response: { pointer } }) =>
      example === undefined ? [] : [{ status, value: example, pointer }],
    ),
  }
}

const listOthers = (
  found: readonly ReadResponse[],
  promised: ReadResponse | undefined,
  drop: Drop,
): void => {
  for (const each of found) {
    for (const name of each.leftOut)
      drop(
        childPointer(each.response.pointer, name),
        'of responses only a body as JSON is described',
      )
    if (each.schema !== undefined && each !== promised)
      drop(each.schema.pointer, 'only a response that is the one success is described')
  }
}

const resultOf = (
  description: Description,
  { value, pointer }: Placed,
  status: number,
  drop: Drop,
): Value | undefined =>
  convertSchema(
    {
      description,
      unsent: 'writeOnly',
      pointer,
      build: (convert) => ({
        properties: { status_code: { const: status }, body: convert(value, pointer) },
      }),
    },
    drop,
  )

interface ReadResponse {
  readonly status: string
  readonly response: Placed<ValueMap>
  readonly schema: Placed | undefined
  readonly example: Value | undefined
  readonly leftOut: readonly string[]
}

const readResponse = (
  description: Description,
  response: Placed<ValueMap>,
  status: string,
): ReadResponse => {
  const is2 = description.dialect === '2.0'
  const media = is2 ? { ...response, isJson: true } : mediaOf(description, response)
  const { value: holder, pointer } = media?.isJson === true ? media : { value: {}, pointer: '' }
  const schema = memberAt(holder, 'schema')
  const [, example] =
    Object.entries(mapAt(holder, 'examples')).find(([type]) => JSON_TYPE.test(type)) ?? []
  const leftOut = ['headers', 'links', ...(media?.isJson === false ? ['content'] : [])]
  return {
    status,
    response,
    schema:
      schema === undefined
        ? undefined
        : { value: schema, pointer: childPointer(pointer, 'schema') },
    example: is2 ? example : ownExample(description, holder),
    leftOut: leftOut.filter((name) => memberAt(response.value, name) !== undefined),
  }
}
