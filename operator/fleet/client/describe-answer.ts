// Describes for a person a call to a data plane that gave no value.

import type { Answer } from '../management-client.ts'

/** @example describeAnswer({ result: 'not_modified' }) // 'it answered 304' */
export const describeAnswer = (
  answer: Exclude<Answer<unknown>, { readonly result: 'ok' }>,
): string => {
  if (answer.result === 'failed') return answer.message
  if (answer.result === 'not_modified') return 'it answered 304'
  const { code, message } = answer.refusal
  return `it answered ${answer.status} ${[code, message].filter(Boolean).join(': ')}`.trim()
}
