// Evaluates the header maps of a document for one response: names in lower case, values as text, validated so that
// nothing can end a header line early. Framing headers are left out, as they are the gateway's.

import { oncePer } from '../../../base/once.ts'
import { createInterner } from '../../../base/intern.ts'
import { isHeaderName, isHeaderValue } from '../../../language/compile/headers.ts'
import { toHeaderMap } from '../../../language/expression/header-map.ts'
import { ExpressionError, withTemplate } from '../../../language/expression/errors.ts'
import { chargeCopy } from '../../../language/expression/keys.ts'
import type { SizeBudget } from '../../../language/expression/size-budget.ts'
import { type EvaluationContext, evaluator } from '../../../language/expression/run.ts'
import type { Template } from '../../../language/expression/template.ts'
import { toText } from '../../../language/expression/text.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { UNSENT_IN_RESPONSES } from '../../../language/unsent-headers.ts'
import { createHeaderBudget, HEADERS_TOO_LARGE, takeHeader } from '../../header-budget.ts'
import { writeHeaderText } from '../../header-text.ts'
import { setsOwnCookie } from '../../own-cookies.ts'

/** Name and value, names lower case; a name may stand twice (`set-cookie`). */
export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface HeaderWriter {
  /** Known from the start, if no header depends on the request. */
  readonly constant: HeaderList | undefined
  /** @throws ExpressionError for an entry that fails, or that no header can carry. */
  write(context: EvaluationContext): HeaderList
  /** Leaves out what cannot be evaluated yet: for error responses of the gateway itself. */
  writeWhatIsKnown(context: EvaluationContext): HeaderList
}

const NONE: HeaderList = []

export const prepareHeaders = (template: Template): HeaderWriter => {
  if (template.kind === 'constant')
    return isMap(template.value) ? constantHeaders(template.value) : NO_HEADERS
  if (template.kind === 'map') return prepareEntries(template.entries)
  const evaluate = evaluator(template)
  const write = (context: EvaluationContext): HeaderList => {
    const value = evaluate(context)
    try {
      if (!isMap(value)) throw new ExpressionError('headers: the expression did not yield a map')
      chargeCopy(value, context)
      return headersIn(value)
    } catch (error) {
      throw withTemplate(error, template)
    }
  }
  return { constant: undefined, write, writeWhatIsKnown: (context) => orNone(() => write(context)) }
}

const headersIn = (map: ValueMap): HeaderList =>
  toHeaderList(Object.entries(toHeaderMap(map)), createHeaderBudget())

const writerOf = (list: HeaderList): HeaderWriter => ({
  constant: list,
  write: () => list,
  writeWhatIsKnown: () => list,
})

const NO_HEADERS = writerOf(NONE)

/** The operations of a document mostly have the same map, and many documents equal ones. */
const constantHeaders = oncePer((map: ValueMap) => {
  const list = headersIn(map)
  return intern(JSON.stringify(list), () => writerOf(list))
})

const intern = createInterner<HeaderWriter>()

const prepareEntries = (entries: readonly (readonly [string, Template])[]): HeaderWriter => {
  // Of several spellings of a name the last one counts, also where it has no value.
  const last = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]))
  const prepared = Array.from(last, ([name, value]) => [name, value, evaluator(value)] as const)
  type Entry = (typeof prepared)[number]
  const writeEntry = (
    [name, template, run]: Entry,
    context: EvaluationContext,
    budget: SizeBudget,
  ): HeaderList => {
    const value = run(context)
    try {
      return toHeaderList([[name, value]], budget)
    } catch (error) {
      throw withTemplate(error, template)
    }
  }
  return {
    constant: undefined,
    write: (context) => {
      const budget = createHeaderBudget()
      return prepared.flatMap((entry) => writeEntry(entry, context, budget))
    },
    writeWhatIsKnown: (context) => {
      const budget = createHeaderBudget()
      return prepared.flatMap((entry) =>
        budget.isFull ? NONE : orNone(() => writeEntry(entry, context, budget)),
      )
    },
  }
}

const orNone = (write: () => HeaderList): HeaderList => {
  try {
    return write()
  } catch (error) {
    if (error instanceof ExpressionError) return NONE
    throw error
  }
}

const toHeaderList = (
  entries: readonly (readonly [string, Value])[],
  budget: SizeBudget,
): HeaderList => {
  const list: (readonly [string, string])[] = []
  for (const [name, value] of entries) {
    if (!isHeaderName(name))
      throw new ExpressionError(`headers: '${name.slice(0, 100)}' is not a header name`)
    if (UNSENT_IN_RESPONSES.has(name) || value === null) continue
    for (const item of isList(value) ? value : [value]) {
      const text = headerText(name, item, budget)
      // An upstream's value may be part of it.
      if (name !== 'set-cookie' || !setsOwnCookie(text)) list.push([name, text])
    }
  }
  return list
}

const headerText = (name: string, value: Value, budget: SizeBudget): string => {
  if (typeof value === 'object' && value !== null)
    throw new ExpressionError(`headers: the value of '${name}' is a map or a list, not text`)
  const text = toText(value)
  if (!takeHeader(budget, text)) throw new ExpressionError(`headers: ${HEADERS_TOO_LARGE}`)
  if (!isHeaderValue(text))
    throw new ExpressionError(
      `headers: the value of '${name}' contains a line break or control character`,
    )
  return writeHeaderText(name, text)
}

/** First value of a name. */
export const headerOf = (list: HeaderList, name: string): string | undefined => {
  for (const [candidate, value] of list) if (candidate === name) return value
  return undefined
}
