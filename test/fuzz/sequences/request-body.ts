// Makes the body of a request as its plan says: at once or in pieces, sound or not.

import { Readable } from 'node:stream'
import type { UpstreamRequest } from '../../../dataplane/upstream/upstream.ts'
import type { BodyPlan } from './plan.ts'
import { after } from './waits.ts'

export interface RequestBody {
  readonly body: UpstreamRequest['body']
  readonly contentLength: number | undefined
  /** A stream that was opened and is not over. */
  isLeftOpen(): boolean
}

export const createRequestBody = (plan: BodyPlan): RequestBody => {
  const { kind, bytes } = plan
  if (kind === 'none' || kind === 'bytes')
    return {
      body: kind === 'none' ? null : bytes,
      contentLength: undefined,
      isLeftOpen: () => false,
    }
  let stream: Readable | undefined
  return {
    body: () => (stream = openStream(plan)),
    contentLength: kind === 'sized stream' ? bytes.length : undefined,
    isLeftOpen: () => stream?.destroyed === false,
  }
}

/** How much of the body comes before its fault. */
const bytesBefore = ({ fault, bytes }: BodyPlan): number =>
  fault === 'none' || fault === 'too long' ? bytes.length : bytes.length >> 1

const openStream = (plan: BodyPlan): Readable => {
  const { bytes, pieceBytes, wait } = plan
  const end = bytesBefore(plan)
  let at = 0
  const stream = new Readable({
    read() {
      after(wait, () => {
        if (stream.destroyed) return
        const piece = bytes.subarray(at, Math.min(end, at + pieceBytes))
        at += piece.length
        if (piece.length > 0) stream.push(piece)
        else endStream(stream, plan)
      })
    },
  })
  // Its reader may have left it.
  stream.on('error', () => undefined)
  return stream
}

const endStream = (stream: Readable, { fault, kind }: BodyPlan): void => {
  if (fault === 'destroyed') stream.destroy()
  // What is chunked is never too short or too long.
  else if (fault === 'error' || (fault !== 'none' && kind === 'chunked stream'))
    stream.destroy(new Error('the source failed'))
  else {
    if (fault === 'too long') stream.push(Buffer.from('x'))
    stream.push(null)
  }
}
