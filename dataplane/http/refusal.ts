// Renders what the gateway refuses by itself: in the words of the document where it has an `on_refusal`, otherwise, and
// where that fails, as an error record of the same status.

import { asError } from '../../base/thrown.ts'
import { internData } from '../../base/intern.ts'
import { oncePer } from '../../base/once.ts'
import type {
  CompiledRefusal,
  OwningParts,
  UnmatchedParts,
} from '../../language/compile/compiled.ts'
import { type ContentType, pickLanguage, refusalType } from '../../language/routes/negotiate.ts'
import { readsOf } from '../../language/expression/reads.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { constant } from '../../language/expression/template.ts'
import type { Candidate, Match } from '../../language/router/route.ts'
import { UNSENT_IN_REFUSALS } from '../../language/unsent-headers.ts'
import { Context } from '../context.ts'
import type { GatewayError } from '../gateway-error.ts'
import type { ServedVersion } from '../served.ts'
import { headersOfError, renderGatewayError, statusOf } from './errors.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { fillRequestView, needsOf, type RequestNeeds } from './request/view.ts'
import { headerOf, type HeaderList } from './response/headers.ts'
import { type Envelope, owningParts } from './response/own-headers.ts'
import { withOneVary } from './response/vary.ts'
import { prepareResponse, type RenderedResponse, type ResponsePlan } from './response/plan.ts'

/** A path, or a version where no path of it matches. */
interface Speaker {
  readonly loadParts?: (() => UnmatchedParts) | undefined
}

export interface Refused {
  readonly incomingRequest: Pick<IncomingRequest, 'request' | 'head' | 'scheme' | 'id' | 'client'>
  /** As far as an operation has negotiated it. */
  readonly contentType?: ContentType
}

/** How a refusal is worded. */
export interface Wording {
  readonly version: ServedVersion
  readonly speaker: Speaker
  readonly match: Match<unknown>
  readonly candidate: Candidate<unknown>
  /** The headers of the path. */
  readonly headers: HeaderList
  /** What the request's expressions have left, which those of the refusal use up too. */
  readonly left?: Pick<Context, 'budget' | 'work'>
}

/** What was found out of a request before it is served. */
export interface Negotiated {
  readonly envelope: Envelope
  readonly contentType: ContentType
  readonly matched: Pick<Wording, 'match' | 'candidate'>
}

export interface RenderedRefusal {
  readonly rendered: RenderedResponse
  /** The words of the document failed, and the record stands for them. */
  readonly failed?: Error
}

export const renderRefusal = (
  error: GatewayError,
  refused: Refused,
  wording: Wording,
): RenderedRefusal => {
  const { headers, speaker, left } = wording
  const words = isWorded(error) ? spokenBy(speaker).words : undefined
  const record = (all: HeaderList): RenderedResponse => renderGatewayError(error, refused, all)
  if (words === undefined) return { rendered: record(headers) }
  const context = contextOf(error, words, refused, wording)
  const bound = context.work ?? 0
  try {
    const own = words.plan.headers.write(context).filter(([name]) => !UNSENT_IN_REFUSALS.has(name))
    const kept = headers.filter(([name]) => name === 'vary' || headerOf(own, name) === undefined)
    const all = withOneVary([...kept, ...own])
    if (!words.hasBody) return { rendered: record(all) }
    const type = refused.contentType ?? refusalType(refused.incomingRequest.head.accept)
    const body = words.plan.body(context, type, own)
    return {
      rendered: {
        status: statusOf(error),
        headers: headersOfError(error, all),
        contentType: body.contentType,
        body: body.bytes,
      },
    }
  } catch (failed) {
    return { rendered: record(headers), failed: asError(failed) }
  } finally {
    if (left?.work !== undefined) left.work -= bound - (context.work ?? 0)
  }
}

/** What clients tell apart by its body keeps it: `{"error": …}` of CSRF. */
const isWorded = (error: GatewayError): boolean =>
  error.reason !== 'csrf' && WORDED.has(statusOf(error))

const WORDED: ReadonlySet<number> = new Set([
  400, 401, 403, 404, 405, 406, 408, 413, 415, 426, 429, 503,
])

interface Words {
  readonly plan: ResponsePlan
  readonly hasBody: boolean
  readonly needs: RequestNeeds
}

/** One for equal refusals of many paths: a client that asks for each of them leaves little. */
const prepareWords = oncePer(({ headers, body }: CompiledRefusal): Words => {
  const templates = { headers, body: body ?? constant(null) }
  return {
    plan: prepareResponse(templates, { templates: () => templates }),
    hasBody: body !== undefined,
    needs: needsOf([headers, templates.body].flatMap(readsOf)),
  }
})

interface Spoken {
  readonly words: Words | undefined
  readonly own: OwningParts
}

/** Read at the first refusal: strangers cause many, and unpacking a document takes long. */
export const spokenBy = oncePer((speaker: Speaker): Spoken => {
  const parts = speaker.loadParts?.()
  const refusal = parts?.refusal
  return {
    words: refusal && prepareWords(internData(refusal)),
    own: parts === undefined ? {} : owningParts(parts),
  }
})

/** A refusal is a small page: anybody may cause many, and they wait for no turn. As `budget` and `work` of a context. */
const MAX_BYTES = 256 * 1024
const MAX_WORK = 2 ** 18

/** It gets a context of its own, as a body that was read must not be seen. */
const contextOf = (
  error: GatewayError,
  { needs }: Words,
  { incomingRequest }: Refused,
  { version, match, candidate, left }: Wording,
): Context => {
  const context = new Context()
  const { request, head, scheme, id, client } = incomingRequest
  context.budget = Math.min(left?.budget ?? Infinity, MAX_BYTES)
  context.work = Math.min(left?.work ?? Infinity, MAX_WORK)
  context.status_codes = version.statusCodes
  context.refusal = {
    code: error.code,
    status: statusOf(error),
    message: error.message,
    errors: error.errors.map((each): ValueMap => ({ ...each })),
    request_id: id,
  }
  const method = (request.method ?? '').toLowerCase()
  const language = pickLanguage(head.acceptLanguage, version.languages)
  const facts = { request, head, method, scheme, id, language, client, match, candidate }
  fillRequestView(context.request, needs, facts)
  return context
}
