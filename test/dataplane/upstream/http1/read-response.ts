// Feeds bytes in given pieces to the parser of responses and writes down what it reads.

import { ResponseParser } from '../../../../dataplane/upstream/http1/response-parser.ts'

export interface ReadResponse {
  /** `waiting`: for more bytes. `leftover`: bytes follow the response. `cut`: the connection has closed too early. */
  readonly end: 'complete' | 'waiting' | 'leftover' | 'cut' | 'fault'
  readonly fault: string | undefined
  readonly statusCode: number | undefined
  readonly headers: readonly string[]
  /** In Latin-1. */
  readonly body: string
  readonly keepsAlive: boolean
  /** Of all bytes, up to the end of the response; 0 if there is none. */
  readonly readBytes: number
}

export interface Reading {
  readonly method?: string
  /** The upstream closes the connection after the bytes. */
  readonly closes?: boolean
}

export const readResponse = (
  pieces: readonly Buffer[],
  { method = 'GET', closes = false }: Reading = {},
): ReadResponse => {
  const reader = new Reader(method)
  for (const piece of pieces) reader.read(piece)
  return reader.result(closes)
}

class Reader {
  readonly #parser = new ResponseParser()
  #body = ''
  #readBytes = 0
  #isComplete = false
  #hasLeftover = false

  constructor(method: string) {
    this.#parser.expect(method)
  }

  read(piece: Buffer): void {
    if (this.#isComplete) this.#hasLeftover ||= piece.length > 0
    else if (this.#parser.problem === undefined) this.#parse(Buffer.from(piece))
  }

  result(closes: boolean): ReadResponse {
    const { problem: fault, head, keepsAlive } = this.#parser
    const end = this.#end(closes)
    const isWhole = end === 'complete' || end === 'leftover'
    return {
      end,
      fault,
      statusCode: head?.statusCode,
      headers: head?.headers ?? [],
      body: this.#body,
      keepsAlive: this.#isComplete && keepsAlive,
      readBytes: isWhole ? this.#readBytes : 0,
    }
  }

  /** A piece is overwritten once it was read, as the memory of a socket is. */
  #parse(piece: Buffer): void {
    const parser = this.#parser
    parser.feed(piece, piece.length)
    let step = parser.next()
    for (; step === 'hints' || step === 'head' || step === 'data'; step = parser.next())
      if (step === 'data') this.#body += piece.toString('latin1', parser.dataFrom, parser.dataTo)
    this.#isComplete = step === 'end'
    this.#hasLeftover = this.#isComplete && parser.hasMore
    this.#readBytes += parser.readTo
    parser.release()
    piece.fill('?')
  }

  #end(closes: boolean): ReadResponse['end'] {
    if (this.#parser.problem !== undefined) return 'fault'
    if (this.#isComplete) return this.#hasLeftover ? 'leftover' : 'complete'
    if (!closes) return 'waiting'
    return this.#parser.finish(true) ? 'complete' : 'cut'
  }
}

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/** All ways to read the bytes in two pieces, and byte by byte. */
export const splitsOf = (bytes: Buffer): readonly (readonly Buffer[])[] => [
  ...Array.from({ length: bytes.length + 1 }, (_, at) => [
    bytes.subarray(0, at),
    bytes.subarray(at),
  ]),
  Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
]
