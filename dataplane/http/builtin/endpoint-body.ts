// The body of a request for an endpoint of the gateway's own in, its text out: bounded in size and time.

import type { MemoryBudget } from '../../memory/memory-budget.ts'
import type { Arrival } from '../arrival.ts'
import { checkDeclaredLength, readBody } from '../request/body.ts'
import { hasBody } from '../request/head.ts'

const LIMITS = { maxBytes: 65_536, readBytes: 65_536, readMs: 15_000 }

/**
 * `""` without a body. Rejects with 413, 408 or 503.
 * @returns undefined when the client has gone
 */
export const readText = async (
  { request, response, head }: Arrival,
  memory: MemoryBudget,
): Promise<string | undefined> => {
  if (!hasBody(head)) return ''
  checkDeclaredLength(head, LIMITS)
  const holding = memory.open(request.socket)
  response.once('close', () => {
    holding.release()
  })
  return new Promise((resolve, reject) => {
    const policy = { limits: LIMITS, declaredLength: head.contentLength, holding }
    readBody(request, policy, (outcome, bytes) => {
      if (outcome === 'gone') resolve(undefined)
      else if (outcome === undefined) resolve(bytes.toString())
      else reject(outcome)
    })
  })
}

/** As `readText` where it is a form; whatever else comes is not read and counts as nothing. */
export const readForm = async (
  arrival: Arrival,
  memory: MemoryBudget,
): Promise<string | undefined> =>
  FORM.test(arrival.head.contentType ?? '') ? readText(arrival, memory) : ''

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i
