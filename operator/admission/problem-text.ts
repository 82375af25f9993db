// Formats problems and warnings as kubectl prints them, in lines of bounded length. Pure.

import type { Located } from './validate-resource.ts'
import type { AdmissionCause } from './review.ts'

/** The whole response is in one status message: far below what API server and terminals accept. */
const MESSAGE_MAX = 30_000
const PROBLEM_MAX = 1_000
const CAUSES_MAX = 100
/** The API server cuts texts, at 256 characters each, only where all of them have more than 4096. */
const WARNING_MAX = 512
const WARNINGS_MAX = 20
const PATH_MAX = 60
const TOTAL_MAX = 4_000

/** @example '2 problems in ApiSpecification default/orders:\n/spec/document/host: …\n/spec/document/id: …' */
export const problemMessage = (subject: string, problems: readonly Located[]): string => {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  const lines = [`${count} in ${subject}:`]
  let length = 0
  for (const [i, problem] of problems.entries()) {
    const line = cut(oneLine(withPath(problem)), PROBLEM_MAX)
    length += line.length + 1
    if (length > MESSAGE_MAX - 200) {
      lines.push(`... and ${problems.length - i} more`)
      break
    }
    lines.push(line)
  }
  return lines.join('\n')
}

export const problemCauses = (problems: readonly Located[]): readonly AdmissionCause[] =>
  problems.slice(0, CAUSES_MAX).map(({ code, path, message }) => ({
    reason: code,
    field: cut(oneLine(path), PROBLEM_MAX),
    message: cut(oneLine(message), PROBLEM_MAX),
  }))

/**
 * What is wrong comes first, as terminals and pipelines cut at the end.
 * @example ['few clients send a header of this name … (/spec/document/versions/…/action)']
 */
export const warningTexts = (warnings: readonly Located[]): readonly string[] => {
  const texts = warnings.slice(0, WARNINGS_MAX).map(withPlaceLast)
  const more = warnings.length - texts.length
  return more > 0 ? [...texts, `... and ${more} more warnings`] : texts
}

/**
 * Says "yet", because the problem may last only until the next object of the same command is applied.
 * @example 'not in service yet: there is no Secret shop/api'
 */
export const notInServiceTexts = (problems: readonly string[]): readonly string[] =>
  adviceTexts(problems.map((problem) => `not in service yet: ${problem}`))

export const adviceTexts = (advice: readonly string[]): readonly string[] =>
  advice.map((text) => cut(oneLine(text), WARNING_MAX))

/** As many of the first texts as fit into the total. */
export const boundedTexts = (texts: readonly string[]): readonly string[] => {
  let length = 0
  return texts.filter((text) => {
    length += text.length
    return length <= TOTAL_MAX
  })
}

const withPath = ({ path, message }: Located): string =>
  path === '' || message.startsWith(path) ? message : `${path}: ${message}`

const withPlaceLast = ({ path, message }: Located): string => {
  if (path === '' || message.startsWith(path)) return cut(oneLine(message), WARNING_MAX)
  const place = ` (${oneLine(cutFront(path))})`
  return `${cut(oneLine(message), WARNING_MAX - place.length)}${place}`
}

/** The end of a pointer says more than its beginning. */
const cutFront = (path: string): string =>
  path.length <= PATH_MAX ? path : `...${path.slice(3 - PATH_MAX)}`

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 3)}...`

/** Keys and values of a document may contain anything; an HTTP header, which carries warnings, may not. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
