// Sends one request of a sequence, pauses, aborts and goes on as its plan says, and checks everything that it is told:
// what is wrong it reports at once, and at the end whether the result is one that its plan allows.

import type {
  UpstreamCall,
  UpstreamError,
  UpstreamRequest,
  UpstreamSink,
} from '../../../dataplane/upstream/upstream.ts'
import type { RequestPlan } from './plan.ts'
import { createRequestBody, type RequestBody } from './request-body.ts'
import { after } from './waits.ts'

export interface CallerEvents {
  onFault(fault: string): void
  /** Once, at the end of the request. */
  onOver(caller: Caller): void
  /** Anything has happened. */
  onProgress(): void
}

export class Caller implements UpstreamSink {
  readonly plan: RequestPlan
  /** How the request has ended, for the sink. */
  result: 'end' | UpstreamError | undefined
  isAborted = false
  /** Bytes of the body that it was given. */
  bytes = 0
  readonly #events: CallerEvents
  readonly #body: RequestBody
  #call: UpstreamCall | undefined
  #status: number | undefined
  #pieces = 0
  #isPaused = false
  /** What it was given and does not say to have finished with: it must not change. */
  #kept: { readonly at: number; readonly bytes: Buffer }[] = []

  constructor(plan: RequestPlan, events: CallerEvents) {
    this.plan = plan
    this.#events = events
    this.#body = createRequestBody(plan.caller.body)
  }

  get isOver(): boolean {
    return this.result !== undefined
  }

  send(to: (request: SentRequest, sink: UpstreamSink) => UpstreamCall): void {
    const { method, body } = this.plan.caller
    const hasBody = body.kind !== 'none'
    this.#call = to(
      {
        method,
        headers: hasBody ? ['content-type', 'text/plain'] : [],
        body: this.#body.body,
        contentLength: this.#body.contentLength,
      },
      this,
    )
    this.#abortAt('send')
  }

  onHead(statusCode: number, headers: readonly (string | Buffer)[]): void {
    this.#begin('a head')
    const { plan } = this
    const at = headers.findIndex((each, index) => index % 2 === 0 && String(each) === 'x-number')
    const number = String(headers[at + 1] ?? '')
    if (this.#status !== undefined) this.#fault('got two heads')
    if (number !== `${plan.number}`) this.#fault(`got the response to ${number || 'no request'}`)
    if (statusCode !== plan.response.status) this.#fault(`got status ${statusCode}`)
    this.#status = statusCode
    this.#abortAt('head')
  }

  onData(chunk: Buffer): boolean {
    this.#begin('data')
    const { response, caller } = this.plan
    if (this.#status === undefined) this.#fault('got data without a head')
    if (this.#isPaused) this.#fault('got data while it was paused')
    if (chunk.length === 0) this.#fault('got an empty piece')
    const at = this.bytes
    this.bytes += chunk.length
    if (!response.body.subarray(at, this.bytes).equals(chunk))
      this.#fault(`got another body at ${at}`)
    this.#keep(at, chunk)
    this.#abortAt('data')
    this.#pieces++
    if (caller.pauseEvery === 0 || this.#pieces % caller.pauseEvery !== 0) return true
    this.#pause()
    return false
  }

  onEnd(): void {
    this.#begin('its end')
    if (this.#isPaused && !this.isAborted) this.#fault('got its end while it was paused')
    if (this.isAborted) this.#fault('got its end although it was aborted')
    this.#over('end')
  }

  onError(error: UpstreamError): void {
    this.#begin('an error')
    this.#over(error)
  }

  /** Call it when all requests are over. */
  check(): void {
    this.#checkKept()
    if (this.#body.isLeftOpen()) this.#fault('has its body left open')
  }

  #begin(what: string): void {
    this.#events.onProgress()
    if (this.#call === undefined) this.#fault(`got ${what} before it was sent`)
    if (this.result !== undefined) this.#fault(`got ${what} after its end`)
  }

  #over(result: 'end' | UpstreamError): void {
    if (this.result !== undefined) return
    this.result = result
    this.#events.onOver(this)
  }

  #pause(): void {
    const { resumeAfter, recycles } = this.plan.caller
    this.#isPaused = true
    this.#abortAt('pause')
    after(resumeAfter, () => {
      this.#events.onProgress()
      if (this.result !== undefined) return
      this.#isPaused = false
      if (recycles === 'before it resumes') this.#recycle()
      this.#call?.resume()
    })
  }

  #keep(at: number, chunk: Buffer): void {
    this.#kept.push({ at, bytes: chunk })
    if (this.plan.caller.recycles === 'at once') this.#recycle()
  }

  #recycle(): void {
    this.#checkKept()
    this.#kept = []
    this.#call?.recycle?.()
  }

  #checkKept(): void {
    const { body } = this.plan.response
    for (const { at, bytes } of this.#kept)
      if (!body.subarray(at, at + bytes.length).equals(bytes))
        this.#fault(`has bytes at ${at} that were changed after it got them`)
  }

  #abortAt(moment: RequestPlan['caller']['abortsAt']): void {
    const { abortsAt, abortAfter } = this.plan.caller
    if (abortsAt !== moment || this.isAborted) return
    after(abortAfter, () => {
      if (this.result !== undefined) return
      this.isAborted = true
      this.#call?.abort()
      if (!this.isOver) this.#fault('was aborted and did not hear of it')
    })
  }

  #fault(fault: string): void {
    this.#events.onFault(`request ${this.plan.number} ${fault}`)
  }
}

export type SentRequest = Pick<UpstreamRequest, 'method' | 'headers' | 'body' | 'contentLength'>
