// Faults and warnings in; what kubectl prints of them out, in lines of bounded length. Pure.

import type { Located } from './judge-resource.ts'
import type { AdmissionCause } from './review.ts'

/** The whole answer is in one status message: far below what API server and terminals take. */
const MESSAGE_MAX = 30_000
const FAULT_MAX = 1_000
const CAUSES_MAX = 100
/** Kubernetes asks for at most 120 characters, and cuts at 256, all of them together at 4096. */
const WARNING_MAX = 120
const WARNINGS_MAX = 20
const PATH_MAX = 60
/** Advice holds what a condition will say, and the command that helps. Shared with all warnings of the answer: 4096. */
const ADVICE_MAX = 512
const TOTAL_MAX = 4_000

/** @example '2 faults in ApiSpecification default/orders:\n/spec/document/host: …\n/spec/document/id: …' */
export const faultMessage = (subject: string, faults: readonly Located[]): string => {
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
  const lines = [`${count} in ${subject}:`]
  let length = 0
  for (const [i, fault] of faults.entries()) {
    const line = cut(oneLine(withPath(fault, fault.path)), FAULT_MAX)
    length += line.length + 1
    if (length > MESSAGE_MAX - 200) {
      lines.push(`... and ${faults.length - i} more`)
      break
    }
    lines.push(line)
  }
  return lines.join('\n')
}

export const faultCauses = (faults: readonly Located[]): readonly AdmissionCause[] =>
  faults.slice(0, CAUSES_MAX).map(({ code, path, message }) => ({
    reason: code,
    field: cut(oneLine(path), FAULT_MAX),
    message: cut(oneLine(message), FAULT_MAX),
  }))

export const warningTexts = (warnings: readonly Located[]): readonly string[] => {
  const texts = warnings
    .slice(0, WARNINGS_MAX)
    .map((warning) => cut(oneLine(withPath(warning, cutFront(warning.path))), WARNING_MAX))
  const more = warnings.length - texts.length
  return more > 0 ? [...texts, `... and ${more} more warnings`] : texts
}

/**
 * What may be wrong only until the next object of the same command is applied: hence "yet".
 * @example 'not in service yet: there is no Secret shop/api'
 */
export const troubleTexts = (troubles: readonly string[]): readonly string[] =>
  adviceTexts(troubles.map((trouble) => `not in service yet: ${trouble}`))

export const adviceTexts = (advice: readonly string[]): readonly string[] =>
  advice.map((text) => cut(oneLine(text), ADVICE_MAX))

/** As many of the first as all together may be. */
export const boundedTexts = (texts: readonly string[]): readonly string[] => {
  let length = 0
  return texts.filter((text) => {
    length += text.length
    return length <= TOTAL_MAX
  })
}

const withPath = ({ path, message }: Located, shownPath: string): string =>
  path === '' || message.startsWith(path) ? message : `${shownPath}: ${message}`

/** The end of a pointer says more than its beginning. */
const cutFront = (path: string): string =>
  path.length <= PATH_MAX ? path : `...${path.slice(3 - PATH_MAX)}`

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 3)}...`

/** Keys and values of a document may hold anything; a header, which warnings travel in, may not. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
