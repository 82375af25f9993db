// Finds where in a document the value stands that failed for a request: the expression without a value, or the member
// of a wrong type. It is for failures only, as it looks through the whole operation.

import { childPointer } from '../base/json-pointer.ts'
import { templateUsesOf } from './compile/action.ts'
import type { CompiledOperation } from './compile/compiled.ts'
import type { FailingPlace } from './expression/errors.ts'
import { sourceOf } from './expression/source.ts'
import type { PipeArgument, Template } from './expression/template.ts'

/**
 * JSON pointer into the document. What the operation inherits (headers, time limits) does not stand in it: then it is
 * the pointer of the operation.
 * @example pointerOf(operation, { template: { kind: 'read', root: 'request', keys: ['body', 'id'] } }) // '/versions/v1/paths/~1a/get/action/body/id'
 */
export const pointerOf = (operation: CompiledOperation, place: FailingPlace): string => {
  const { template, member } = place
  if (member !== undefined || template === undefined) return operation.pointer + (member ?? '')
  return operation.pointer + (memberWith(operation, sourceOf(template)) ?? '')
}

/** A JSON pointer into the document, or what `pointerOf` takes. */
export type RefusingPlace = FailingPlace & { readonly pointer?: string | undefined }

interface PlacedTemplate {
  readonly member: string
  readonly template: Template | undefined
}

/** Evaluation is deterministic: of the places that have the same expression the first has failed. */
const memberWith = (operation: CompiledOperation, source: string): string | undefined => {
  for (const { member, template } of templatesOf(operation)) {
    const found = template && placeIn(template, source, member)
    if (found !== undefined) return found
  }
  return undefined
}

/** In the order in which they are evaluated. */
const templatesOf = (operation: CompiledOperation): readonly PlacedTemplate[] => [
  ...templateUsesOf(operation, { uri: '' }).map(({ template, keys }) => ({
    // What the document calls the URI of a WAMP action is not known here.
    member: keys.filter((key) => key !== '').reduce<string>(childPointer, '/action'),
    template,
  })),
  ...(['onResult', 'onError'] as const).flatMap((name) => responseTemplates(operation, name)),
]

const RESPONSES = { onResult: '/response/on_result', onError: '/response/on_error' } as const

const responseTemplates = (
  operation: CompiledOperation,
  name: keyof typeof RESPONSES,
): readonly PlacedTemplate[] => {
  const response = operation[name]
  if (!response.declared) return []
  const { statusCode, headers, body, uri } = response
  const pointer = RESPONSES[name]
  return [
    { member: `${pointer}/status_code`, template: statusCode },
    { member: `${pointer}/headers`, template: headers },
    { member: `${pointer}/body`, template: body },
    { member: `${pointer}/uri`, template: uri },
  ]
}

const placeIn = (template: Template, source: string, pointer: string): string | undefined => {
  switch (template.kind) {
    case 'constant':
      return undefined
    case 'read':
    case 'text':
    case 'pipe':
      return holdsSource(template, source) ? pointer : undefined
    case 'list':
      return firstOf(template.items.entries(), source, pointer)
    case 'map':
      return firstOf(template.entries, source, pointer)
  }
}

const firstOf = (
  children: Iterable<readonly [string | number, Template]>,
  source: string,
  pointer: string,
): string | undefined => {
  for (const [key, child] of children) {
    const found = placeIn(child, source, childPointer(pointer, key))
    if (found !== undefined) return found
  }
  return undefined
}

/** Expressions within a text, and within the arguments of functions, have no pointer of their own. */
const holdsSource = (template: PipeArgument | string, source: string): boolean => {
  if (typeof template === 'string' || template.kind === 'piped' || template.kind === 'constant')
    return false
  switch (template.kind) {
    case 'read':
      return sourceOf(template) === source
    case 'text':
      return (
        sourceOf(template) === source || template.parts.some((part) => holdsSource(part, source))
      )
    case 'pipe':
      return (
        template.source === source ||
        holdsSource(template.input, source) ||
        template.calls.some(({ args }) => args.some((arg) => holdsSource(arg, source)))
      )
    case 'list':
      return template.items.some((item) => holdsSource(item, source))
    case 'map':
      return template.entries.some(([, child]) => holdsSource(child, source))
  }
}
